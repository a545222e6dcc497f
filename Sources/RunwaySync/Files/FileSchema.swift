import Foundation
import GRDB
import RunwaySyncCore
import RunwayTables

/// Tables for the files that synchronised rows name. `runway_sync_stored` has one row for each space and file. Triggers
/// insert it with the first row that names the file, and remove it with the last.
///
/// | column | meaning |
/// |---|---|
/// | `digest` | the last 64 characters of the name: the SHA-256 of the bytes |
/// | `count` | the number of rows and columns that name the file |
/// | `here` | whether the bytes are in the folder. A row of this device has them; one of another may not |
/// | `settled` | whether nothing is left to do: the bytes are here, and at the server |
/// | `moved` | the bytes that a running transfer has moved; NULL if none runs |
/// | `due`, `failures`, `problem` | the time of the next attempt in milliseconds since 1970, and the last failures |
/// | `missing` | the time of the first attempt at which the server did not have the file; NULL if there was none |
///
/// The table has row ids, since SQLite does not report changes of tables without them to observations.
///
/// `runway_sync_held` names the files of discarded values that ``SyncConflict`` shows, so that the files are not
/// removed. A file whose `tbl` is empty only waits for its upload: the log has replaced this device's value in a table
/// whose conflicts the app asks about. The device that asks may be another one, which has the name of the file but not
/// its bytes.
enum FileSchema {
    static let held = HeldFiles(table: "runway_sync_held", column: "name")
    /// Not the prefix of the triggers that capture changes, which are counted.
    private static let triggerPrefix = "runway_stored_"
    /// The time of an attempt that only ``SyncEngine/transferAgain(_:in:)`` begins.
    static let never = Int64.max

    private struct Column {
        let table: String
        let space: String
        let name: String
        /// Whether a discarded value may be asked about.
        var isAsked = false

        func trigger(_ event: String) -> String { "\(triggerPrefix)\(event) \(table).\(name)" }
    }

    static func prepare(_ tables: [CapturedTable], in database: Database) throws {
        try database.execute(sql: Self.tables)
        let used = tables.filter { !$0.fileColumns.isEmpty }
        var columns = used.flatMap { table in
            table.fileColumns.map {
                Column(
                    table: table.name, space: table.synced.spaceColumn, name: $0,
                    isAsked: table.synced.conflicts == .ask)
            }
        }
        if !columns.isEmpty { columns.append(Column(table: held.table, space: "space", name: held.column)) }
        let expected = columns.flatMap { column in ["insert", "update", "delete"].map { column.trigger($0) } }
        if try Set(expected) == triggerNames(in: database) { return }
        try removeTriggers(in: database)
        try database.execute(sql: "UPDATE runway_sync_stored SET count = 0")
        for column in columns { try follow(column, in: database) }
        try database.execute(sql: "DELETE FROM runway_sync_stored WHERE count < 1")
    }

    /// Removes the triggers before a change of the schema. ``prepare(_:in:)`` creates them again, and counts.
    static func removeTriggers(in database: Database) throws {
        for name in try triggerNames(in: database) { try database.execute(sql: "DROP TRIGGER \(name.quotedName)") }
    }

    private static func triggerNames(in database: Database) throws -> Set<String> {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB '\(triggerPrefix)*'"
        return try String.fetchSet(database, sql: sql)
    }

    private static func follow(_ column: Column, in database: Database) throws {
        let (table, space, name) = (column.table.quotedName, column.space.quotedName, column.name.quotedName)
        func isFile(_ row: String) -> String { "typeof(\(row)\(name)) = 'text' AND typeof(\(row)\(space)) = 'blob'" }
        func entry(_ row: String) -> String {
            "runway_sync_stored WHERE space = \(row).\(space) AND name = \(row).\(name)"
        }
        try database.execute(
            sql: """
                INSERT INTO runway_sync_stored (space, name, digest, count, here)
                    SELECT \(space), \(name), substr(\(name), -64), COUNT(*), 1 FROM \(table)
                    WHERE \(isFile("")) GROUP BY 1, 2
                    ON CONFLICT (space, name) DO UPDATE SET count = count + excluded.count
                """)
        // Not with ON CONFLICT: SQLite would use the conflict clause of the statement that fires the trigger instead.
        let adding = """
            INSERT INTO runway_sync_stored (space, name, digest, count, here)
                SELECT NEW.\(space), NEW.\(name), substr(NEW.\(name), -64), 0, (SELECT paused FROM runway_sync_file) = 0
                WHERE \(isFile("NEW.")) AND NOT EXISTS (SELECT 1 FROM \(entry("NEW")));
            UPDATE runway_sync_stored SET count = count + 1
                WHERE space = NEW.\(space) AND name = NEW.\(name);
            """
        // A page of the log may move a name from one row to another, so that it is removed after the page.
        let removing = """
            UPDATE runway_sync_stored SET count = count - 1
                WHERE space = OLD.\(space) AND name = OLD.\(name);
            DELETE FROM \(entry("OLD")) AND count < 1 AND (SELECT paused FROM runway_sync_file) = 0;
            """
        let holding =
            column.isAsked
            ? """
            INSERT INTO runway_sync_held SELECT OLD.\(space), '', x'', OLD.\(name)
                WHERE (SELECT paused FROM runway_sync_file) = 1
                AND EXISTS (SELECT 1 FROM \(entry("OLD")) AND here = 1 AND settled = 0 AND due < \(never))
                AND NOT EXISTS (SELECT 1 FROM runway_sync_held WHERE space = OLD.\(space) AND name = OLD.\(name));
            """ : ""
        for (event, kind, condition, work) in [
            ("insert", "INSERT", "NEW.\(name) IS NOT NULL", adding),
            ("update", "UPDATE OF \(name)", "OLD.\(name) IS NOT NEW.\(name)", adding + holding + removing),
            ("delete", "DELETE", "OLD.\(name) IS NOT NULL", removing),
        ] {
            try database.execute(
                sql: """
                    CREATE TRIGGER \(column.trigger(event).quotedName)
                        AFTER \(kind) ON \(table) WHEN \(condition) BEGIN \(work) END
                    """)
        }
    }

    private static let tables = """
        CREATE TABLE IF NOT EXISTS runway_sync_stored (
            space BLOB NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, count INTEGER NOT NULL,
            here INTEGER NOT NULL, settled INTEGER NOT NULL DEFAULT 0, moved INTEGER, due INTEGER NOT NULL DEFAULT 0,
            failures INTEGER NOT NULL DEFAULT 0, problem TEXT, missing INTEGER, PRIMARY KEY (space, name)) STRICT;
        CREATE INDEX IF NOT EXISTS runway_sync_stored_open ON runway_sync_stored (due, name) WHERE settled = 0;
        CREATE INDEX IF NOT EXISTS runway_sync_stored_lane
            ON runway_sync_stored (space, here, due, name) WHERE settled = 0;
        CREATE INDEX IF NOT EXISTS runway_sync_stored_digest ON runway_sync_stored (digest);
        CREATE INDEX IF NOT EXISTS runway_sync_stored_unnamed ON runway_sync_stored (count) WHERE count < 1;
        CREATE TABLE IF NOT EXISTS runway_sync_held (
            space BLOB NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, name TEXT NOT NULL,
            PRIMARY KEY (space, tbl, id, name)) STRICT, WITHOUT ROWID
        """
}

extension ChangeCapture {
    var heldFiles: HeldFiles? { tables.contains { !$0.fileColumns.isEmpty } ? FileSchema.held : nil }
}

extension SQLiteDeviceStore {
    /// Holds the files of discarded values until the conflict is resolved.
    func hold(_ lost: Columns<SyncValue>, of key: RowKey) throws {
        let columns = capture.tables.first { key.isIn($0.name) }?.fileColumns ?? []
        for case .text(let name)? in columns.map({ lost[$0] }) where StoredFile(name: name) != nil {
            try change(
                "INSERT OR IGNORE INTO runway_sync_held VALUES (?, ?, ?, ?)",
                [space.databaseValue, key.table, key.id.databaseValue, name])
            try change(
                "DELETE FROM runway_sync_held WHERE space = ? AND tbl = '' AND name = ?", [space.databaseValue, name])
        }
    }

    /// Removes the files that no row has named since capture paused.
    func removeUnnamedFiles() throws { try execute("DELETE FROM runway_sync_stored WHERE count < 1", []) }

    /// Asks the server again for the files of the space.
    func offerFiles() throws {
        try execute("UPDATE runway_sync_stored SET settled = 0, due = 0 WHERE space = ?", [space.databaseValue])
    }
}
