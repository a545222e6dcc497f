import GRDB
import RunwaySyncCore
import Synchronization

/// A synchronised table as it is in the file, with the statements that capture and show its rows.
final class TableShape: Sendable {
    let name: String
    let key: String
    let space: String
    /// The columns without the id and the space, in the order of the file.
    let columns: [String]
    private let textColumns: [String]
    /// Reads the values of a row of a space.
    let select: String
    /// Deletes a row of a space.
    let delete: String
    /// Reads the ids of the rows of a space.
    let keys: String
    /// Guards the statements that show a row, by the positions of its columns.
    private let upserts = Mutex<[[Int]: String]>([:])
    /// The number of statements at which they are made anew: rows may have any columns.
    private static let upsertLimit = 64

    /// Reads the columns of a table; `nil` if there is no such table.
    init?(_ name: String, space: String, in database: Database) throws {
        guard try database.tableExists(name) else { return nil }
        let found = try database.columns(in: name)
        guard let key = found.first(where: { $0.primaryKeyIndex == 1 })?.name,
            let space = found.first(where: { $0.name.lowercased() == space.lowercased() })?.name
        else { return nil }
        (self.name, self.key, self.space) = (name, key, space)
        let values = found.filter { !$0.name.isSame(as: key) && !$0.name.isSame(as: space) }
        columns = values.map(\.name)
        textColumns = values.filter { !["INTEGER", "REAL"].contains($0.type.uppercased()) }.map(\.name)
        let names = values.isEmpty ? "1" : columns.map(\.quotedName).joined(separator: ", ")
        let (table, row) = (name.quotedName, "\(key.quotedName) = ? AND \(space.quotedName) = ?")
        select = "SELECT \(names) FROM \(table) WHERE \(row)"
        delete = "DELETE FROM \(table) WHERE \(row)"
        keys = "SELECT \(key.quotedName) FROM \(table) WHERE \(space.quotedName) = ?"
    }

    private var table: String { name.quotedName }

    func position(of column: String) -> Int? { columns.firstIndex { $0.isSame(as: column) } }

    var dropping: String {
        ["insert", "update", "delete"].map { "DROP TRIGGER IF EXISTS \(trigger($0))" }.joined(separator: ";")
    }

    private func trigger(_ event: String) -> String { "\(SyncSchema.triggerPrefix)\(event) \(name)".quotedName }

    /// The triggers that capture each change of a row, unless the log is being applied.
    var triggers: [String] {
        let isOn = "(SELECT paused FROM runway_sync_file) = 0"
        let (key, space) = (self.key.quotedName, self.space.quotedName)
        func captures(_ row: String, existed: Bool, size: String) -> String {
            let numbers = columns.indices.map { ", c\($0)" }.joined()
            let values = columns.map { ", OLD.\($0.quotedName)" }.joined()
            return """
                INSERT INTO runway_sync_change (tbl, space, id, existed, size\(existed ? numbers : "")) VALUES (
                    \(name.quotedText), \(row).\(space), \(row).\(key), \(existed ? 1 : 0),
                    \(size)\(existed ? values : ""));
                """
        }
        let isInvalid = [key, space].map { "typeof(NEW.\($0)) <> 'blob' OR length(NEW.\($0)) <> 16" }
        return [
            """
            CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(table) WHEN \(isOn) BEGIN
                SELECT RAISE(ABORT, 'an id or a space is no UUID') WHERE \(isInvalid.joined(separator: " OR "));
                \(captures("NEW", existed: false, size: size("NEW.")))
            END
            """,
            """
            CREATE TRIGGER \(trigger("update")) AFTER UPDATE ON \(table) WHEN \(isOn) BEGIN
                SELECT RAISE(ABORT, 'an id or a space can''t change')
                    WHERE OLD.\(key) IS NOT NEW.\(key) OR OLD.\(space) IS NOT NEW.\(space);
                \(captures("OLD", existed: true, size: size("NEW.")))
            END
            """,
            """
            CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(table) WHEN \(isOn) BEGIN
                \(captures("OLD", existed: true, size: "64"))
            END
            """,
        ]
    }

    /// An expression for the size of the values in bytes, not below that of a transaction with the row.
    private func size(_ row: String) -> String {
        let texts = textColumns.map { " + ifnull(length(CAST(\(row)\($0.quotedName) AS BLOB)), 0)" }.joined()
        return "\(112 + name.utf8.count + columns.reduce(0) { $0 + $1.utf8.count + 12 })\(texts)"
    }

    /// Captures the rows that the table had before it was synchronised, as inserts.
    var capturingAll: String {
        """
        INSERT INTO runway_sync_change (tbl, space, id, existed, size)
            SELECT \(name.quotedText), \(space.quotedName), \(key.quotedName), 0, \(size("")) FROM \(table)
            WHERE length(\(key.quotedName)) = 16 AND length(\(space.quotedName)) = 16
        """
    }

    /// Inserts a row with the values of these columns, or replaces it. The row of another space stays as it is.
    func upsert(_ positions: [Int]) -> String {
        upserts.withLock { upserts in
            if let sql = upserts[positions] { return sql }
            if upserts.count == Self.upsertLimit { upserts = [:] }
            let sql = makeUpsert(positions)
            upserts[positions] = sql
            return sql
        }
    }

    private func makeUpsert(_ positions: [Int]) -> String {
        let names = positions.map { columns[$0].quotedName }
        // A column without a value returns to its default: a pending change that was refused may have set it.
        let assignments = columns.isEmpty ? [key.quotedName] : columns.map(\.quotedName)
        return """
            INSERT INTO \(table) (\(([key.quotedName, space.quotedName] + names).joined(separator: ", ")))
                VALUES (?, ?\(String(repeating: ", ?", count: names.count)))
                ON CONFLICT (\(key.quotedName)) DO UPDATE SET
                \(assignments.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
                WHERE \(space.quotedName) IS excluded.\(space.quotedName)
            """
    }
}
