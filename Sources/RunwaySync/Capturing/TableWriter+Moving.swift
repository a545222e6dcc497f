public import Foundation
import GRDB
import RunwaySyncCore
public import RunwayTables

extension TableWriter {
    /// Moves a row to another space: inserts a copy there, which has a new id, and deletes the row.
    ///
    /// ```swift
    /// try await store.write { try $0.move(Tasks.self, task, to: otherList) }
    /// ```
    ///
    /// Rows that refer to the row by a foreign key refer to the copy then. Move those that belong with it in the same
    /// transaction. The devices of the former space show ``RowSyncStatus/moved(to:)`` for the row.
    ///
    /// The move is one transaction on this device, and one in each space elsewhere: check beforehand that the user may
    /// write in both. If the server refuses the copy, ``SyncStatus/refusedChanges`` of its space has the change.
    ///
    /// - Returns: The id of the copy; the id of the row if it is in that space already; `nil` if there is no such row.
    /// - Throws: The errors of `insert(_:)`, or an error of the file.
    @discardableResult
    public func move<Table: SyncedTable>(_ table: Table.Type, _ id: UUID, to space: UUID) throws -> UUID? {
        let key = TableColumn<Table, UUID>(Table.keyName)
        let spaceColumn = TableColumn<Table, UUID>(Table.sync.spaceColumn)
        guard var row = try fetchFirst(table, where: key == id) else { return nil }
        if row[spaceColumn] == space { return id }
        let copy = UUID()
        (row[key], row[spaceColumn]) = (copy, space)
        try insert(row)
        let references = """
            SELECT m.name, f."from" FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f
                WHERE m.type = 'table' AND lower(f."table") = lower(?)
            """
        for reference in try GRDB.Row.fetchAll(connection, sql: references, arguments: [Table.name]) {
            let (name, column) = ((reference[0] as String).quotedName, (reference[1] as String).quotedName)
            try connection.execute(
                sql: "UPDATE \(name) SET \(column) = ? WHERE \(column) = ?", arguments: [copy, id])
        }
        try delete(table, where: key == id)
        let last = "SELECT n FROM runway_sync_change WHERE tbl = ? AND id = ? ORDER BY n DESC LIMIT 1"
        try connection.execute(
            sql: "UPDATE runway_sync_change SET moved = ? WHERE n = (\(last))", arguments: [space, Table.name, id])
        return copy
    }
}
