public import Foundation
import GRDB
import RunwaySyncCore
public import RunwayTables

/// A conflict of a table whose policy is `ConflictPolicy.ask`: this device and another one changed a row without having
/// seen each other's change.
///
/// The row has the newest values. The conflict has those that were discarded, so that the app can ask its user. It is
/// on the device whose change came second.
///
/// ```swift
/// for conflict in try file.syncConflicts(of: Tasks.self) {
///     if let title = conflict[Tasks.title] { ask(conflict.id, title) }
/// }
/// ```
public struct SyncConflict<Table: SyncedTable>: Hashable, Sendable {
    /// The id of the row.
    public let id: UUID
    private let lost: Values<Table>

    fileprivate init(id: UUID, lost: Values<Table>) { (self.id, self.lost) = (id, lost) }

    /// The discarded value of a column; `nil` if the column has no conflict.
    public subscript<Value: ColumnValue>(column: TableColumn<Table, Value>) -> Value? {
        lost[column]
    }

    /// The discarded value of a column that may be NULL; `.some(nil)` for NULL, and `nil` if the column has no
    /// conflict.
    public subscript<Value: ColumnValue>(column: TableColumn<Table, Value?>) -> Value?? {
        lost.contains(column) ? .some(lost[column]) : nil
    }
}

extension TableReading {
    /// Returns the conflicts of a table that were not resolved. They can be observed.
    ///
    /// - Throws: `TableError.Kind.keyUnavailable` if a secret can't be opened, or an error of the file.
    public func syncConflicts<Table: SyncedTable>(of table: Table.Type) throws -> [SyncConflict<Table>] {
        let sql = "SELECT id, lost FROM runway_sync_conflict WHERE tbl = ? ORDER BY id"
        return try GRDB.Row.fetchAll(connection, sql: sql, arguments: [Table.name]).compactMap { row in
            guard let id = Identifier(row[0] as DatabaseValue) else { return nil }
            let lost = try Columns<SyncValue>(encoded: Array(row[1] as Data))
            let stored = lost.compactMap { column in column.value.databaseValue.map { (name: column.name, value: $0) } }
            // A secret opens only beside the key of its row.
            let key = TableColumn<Table, UUID>(Table.keyName)
            var values = try values(Table.self, stored: stored + [(name: key.name, value: id.databaseValue)])
            values.remove(key)
            return SyncConflict(id: UUID(id), lost: values)
        }
    }
}

extension TableWriter {
    /// Removes a conflict from the list. Write the chosen values in the same transaction; that is an ordinary change.
    ///
    /// - Throws: An error of the file.
    public func resolveConflict<Table: SyncedTable>(of table: Table.Type, _ id: UUID) throws {
        try connection.execute(
            sql: "DELETE FROM runway_sync_conflict WHERE tbl = ? AND id = ?",
            arguments: [Table.name, Identifier(id).databaseValue])
        try connection.execute(
            sql: "DELETE FROM runway_sync_held WHERE tbl = ? AND id = ?",
            arguments: [Table.name, Identifier(id).databaseValue])
    }
}
