import Foundation
import GRDB
import RunwaySyncCore

/// The tables of the synchronisation in a file of records.
enum SyncSchema {
    static let triggerPrefix = "runway_sync_"

    /// Creates the tables that are absent.
    ///
    /// - Parameter columnCount: The largest number of columns of a synchronised table.
    static func create(columnCount: Int, in database: Database) throws {
        if try !database.tableExists("runway_sync_file") {
            try database.execute(sql: tables)
            database.clearSchemaCache()
        }
        let existing = try database.columns(in: "runway_sync_change").filter { $0.name.hasPrefix("c") }.count
        // A column without a type stores each value as it is.
        for index in existing..<max(columnCount, existing) {
            try database.execute(sql: "ALTER TABLE runway_sync_change ADD COLUMN c\(index)")
        }
    }

    static func exists(in database: Database) throws -> Bool { try database.tableExists("runway_sync_file") }

    /// `runway_sync_change` has the row before each change since the last sealing, in the order of the changes. A row
    /// of `runway_sync_write` ends a transaction. Spaces are sealed one by one, so that no number may come again.
    /// `moved` is the space to which a deleted row moves. `c0`, `c1` and so on are the columns of the table in their
    /// order, without the id and the space.
    ///
    /// `runway_sync_name` has the names of columns, as text, and the ids of devices, as BLOB, for which the rows of
    /// `runway_sync_row` and `runway_sync_staged` have a number.
    ///
    /// SQLite reports no change of a table `WITHOUT ROWID` to observers, so that only tables have this form which
    /// nobody observes.
    private static let tables = """
        CREATE TABLE runway_sync_file (
            one INTEGER PRIMARY KEY CHECK (one = 1), paused INTEGER NOT NULL, clock INTEGER NOT NULL,
            installation TEXT) STRICT;
        INSERT INTO runway_sync_file VALUES (1, 0, 0, NULL);
        CREATE TABLE runway_sync_table (name TEXT PRIMARY KEY, columns TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE runway_sync_change (
            n INTEGER PRIMARY KEY AUTOINCREMENT, tbl TEXT NOT NULL, space BLOB NOT NULL, id BLOB NOT NULL,
            existed INTEGER NOT NULL, size INTEGER NOT NULL, moved BLOB);
        CREATE TABLE runway_sync_write (last INTEGER PRIMARY KEY, time INTEGER NOT NULL) STRICT;
        CREATE TABLE runway_sync_space (
            number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, joined INTEGER NOT NULL, problem TEXT,
            oneway INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL, state BLOB NOT NULL) STRICT;
        CREATE TABLE runway_sync_row (
            space INTEGER NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, row BLOB NOT NULL,
            PRIMARY KEY (space, tbl, id)) STRICT, WITHOUT ROWID;
        CREATE TABLE runway_sync_name (number INTEGER PRIMARY KEY, name ANY NOT NULL UNIQUE) STRICT;
        CREATE TABLE runway_sync_staged (
            space INTEGER NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, row BLOB NOT NULL,
            PRIMARY KEY (space, tbl, id)) STRICT, WITHOUT ROWID;
        CREATE TABLE runway_sync_preview (
            space INTEGER NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY (space, tbl, id)
            ) STRICT;
        CREATE TABLE runway_sync_parked (
            space INTEGER NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY (space, tbl, id)
            ) STRICT;
        CREATE TABLE runway_sync_outgoing (
            n INTEGER PRIMARY KEY, space INTEGER NOT NULL, sequence INTEGER NOT NULL, id BLOB NOT NULL,
            open INTEGER NOT NULL, refused INTEGER NOT NULL, decided INTEGER, offered INTEGER NOT NULL,
            size INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (space, sequence)) STRICT;
        CREATE TABLE runway_sync_refused (
            space INTEGER NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, sequence INTEGER NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (space, tbl, id, sequence)) STRICT;
        CREATE TABLE runway_sync_conflict (
            space INTEGER NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, lost BLOB NOT NULL,
            PRIMARY KEY (space, tbl, id)) STRICT;
        CREATE TABLE runway_sync_moved (
            space INTEGER NOT NULL, tbl TEXT NOT NULL, id BLOB NOT NULL, target BLOB NOT NULL,
            PRIMARY KEY (space, tbl, id)) STRICT;
        CREATE INDEX runway_sync_outgoing_id ON runway_sync_outgoing (space, id);
        CREATE INDEX runway_sync_outgoing_open ON runway_sync_outgoing (space, sequence, decided, offered)
            WHERE open = 1;
        CREATE INDEX runway_sync_outgoing_refused ON runway_sync_outgoing (space, sequence) WHERE refused = 1
        """
}

extension Identifier {
    /// The id as a column of UUIDs stores it.
    var databaseValue: DatabaseValue { DatabaseValue(blob: bytes) }

    /// Reads 16 bytes; `nil` for another value.
    init?(_ value: DatabaseValue) {
        guard case .blob(let data) = value.storage, data.count == 16 else { return nil }
        self = data.withUnsafeBytes { bytes in
            Identifier(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}

extension SyncValue {
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let integer): .integer(integer)
            case .double(let real): .real(real)
            case .string(let text): .text(text)
            case .blob(let data): .bytes(Array(data))
            }
    }

    /// The value in SQLite; `nil` if the file can't store it without loss.
    var databaseValue: DatabaseValue? {
        switch self {
        case .null: .null
        case .integer(let integer): integer.databaseValue
        case .real(let real): real.isNaN ? nil : real.databaseValue
        // Readers of SQLite stop at a NUL.
        case .text(let text): text.utf8.contains(0) ? nil : text.databaseValue
        case .bytes(let bytes): DatabaseValue(blob: bytes)
        }
    }
}

extension DatabaseValue {
    /// A BLOB, also if it is empty.
    init(blob bytes: [UInt8]) { self = Data(bytes).databaseValue }
}

extension String {
    /// The name in SQL. GRDB's `quotedDatabaseIdentifier` does not double quotation marks.
    var quotedName: String { "\"\(replacing("\"", with: "\"\""))\"" }
    /// The text as a literal of SQL.
    var quotedText: String { "'\(replacing("'", with: "''"))'" }
}
