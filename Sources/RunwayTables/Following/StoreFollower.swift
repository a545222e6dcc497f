package import Foundation
package import GRDB

/// The part of a table's declaration that another module reads, such as `Synced` of `RunwaySync`. An app does not make
/// one.
public struct TableFollowing: Sendable {
    /// The settings of the module.
    package let details: any Sendable
    /// Makes the follower of all tables of a file that the module follows.
    package let makeFollower: @Sendable ([FollowedTable]) -> any StoreFollower

    package init(details: any Sendable, makeFollower: @escaping @Sendable ([FollowedTable]) -> any StoreFollower) {
        (self.details, self.makeFollower) = (details, makeFollower)
    }
}

/// A table whose changes another module follows.
package struct FollowedTable: Sendable {
    package let name: String
    package let details: any Sendable
    /// Whether the table has secret columns, which only this device can open.
    package let hasSecrets: Bool
    /// The columns of files.
    package let fileColumns: [String]

    init(_ layout: TableLayout, _ details: any Sendable) {
        (name, self.details, hasSecrets) = (layout.name, details, layout.hasSecrets)
        fileColumns = layout.columns.filter(\.isFile).map(\.name)
    }
}

extension TableDefinition {
    /// The name of the first column of the primary key, as the table declares it.
    package static var keyName: String { columns.layout.columns[0].name }
}

/// Follows the changes of tables from inside the transactions that make them. All functions run on the connection of
/// the file.
package protocol StoreFollower: Sendable {
    /// The column in which the follower names files of its own; `nil` if it does not follow the files of rows. It
    /// exists after ``prepare(_:)``.
    var heldFiles: HeldFiles? { get }
    /// Checks the tables, and creates what the follower needs. Called in a transaction each time the file is opened,
    /// after the steps were taken.
    ///
    /// - Throws: ``TableError``.
    func prepare(_ database: Database) throws
    /// Called before the first migration step runs, in a separate transaction.
    func willMigrate(_ database: Database) throws
    /// Runs statements of a step, which are not followed. They may change the schema.
    func pausing(in database: Database, _ change: () throws -> Void) throws
    /// Called at the start of a transaction of the app.
    func willWrite(_ database: Database) throws
    /// Called at the end of a transaction of the app, before its commit.
    ///
    /// - Throws: An error that ends the transaction without a change.
    func didWrite(_ database: Database) throws
    /// Changes all rows that meet conditions.
    ///
    /// - Returns: The number of changed rows; `nil` if the follower leaves the change to the caller.
    func updateAll(_ update: FollowedUpdate, in database: Database) throws -> Int?
}

/// A column of a follower's own table that names files. They stay as those that rows name.
package struct HeldFiles: Sendable {
    package let table: String
    package let column: String

    package init(table: String, column: String) { (self.table, self.column) = (table, column) }
}

/// A change of all rows of a table that meet conditions.
package struct FollowedUpdate: Sendable {
    package let table: String
    /// The new values by column.
    package let values: [(column: String, value: DatabaseValue)]
    /// The conditions that a row must all meet; `nil` if the condition has another form.
    package let terms: [ConditionTerm]?
}

/// A comparison of a column with a constant.
package struct ConditionTerm: Sendable {
    package let column: String
    /// An operator of SQL: `=`, `<>`, `IS NOT`, `<`, `<=`, `>` or `>=`.
    package let comparison: String
    package let value: DatabaseValue
}

extension RecordStore {
    /// Returns the version of the tables: 1, and one more for each step that was taken.
    package func version(in database: Database) throws -> Int64 { Int64(try StepLog.entries(in: database).count) + 1 }

    /// Changes the file in one transaction for a follower, with foreign keys off: rows of a log may arrive in any
    /// order. The change is not followed.
    ///
    /// - Throws: ``TableError``, `CancellationError` if the task is cancelled before the commit, or the error of
    ///   `change`.
    package func writeAsFollower<Value: Sendable>(
        _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try checkWritable()
        try await finishRest()
        do {
            let (value, hasUnnamedFiles) = try await queue().writeWithoutTransaction { [files] database in
                try database.execute(sql: "PRAGMA foreign_keys = OFF")
                defer { try? database.execute(sql: "PRAGMA foreign_keys = ON") }
                var value: (Value, Bool)?
                try database.inTransaction(.immediate) {
                    value = (try change(database), try files.hasUnnamed(in: database))
                    return .commit
                }
                guard let value else { throw CancellationError() }
                return value
            }
            if hasUnnamedFiles { await removeUnnamedFiles() }
            return value
        } catch {
            throw TableError(error, at: url) ?? error
        }
    }
}

extension [any TableDefinition.Type] {
    /// The follower of those tables that declare one; `nil` if none does.
    var follower: (any StoreFollower)? {
        let followed = compactMap { table in table.following.map { (table.layout, $0) } }
        return followed.first.map { first in
            first.1.makeFollower(followed.map { FollowedTable($0.0, $0.1.details) })
        }
    }
}

extension RecordStore {
    /// Whether the bytes of a file are in the folder of this store.
    package func isHere(_ file: StoredFile) async -> Bool { (try? await url(of: file)) != nil }

    /// Moves the bytes of a file that rows name into the folder. If no row names it any more, the source is removed.
    ///
    /// - Returns: Whether a row names the file.
    /// - Throws: ``TableError/Kind/rejected`` if the source has other bytes; it stays. Otherwise an error of the file.
    package func land(_ file: StoredFile, moving source: URL) async throws -> Bool {
        try checkWritable()
        let queue = try queue()
        return try await files.run { try $0.land(file, moving: source.path, queue) }
    }
}
