public import Foundation
public import GRDB
public import RunwayServer
package import RunwaySyncCore

/// Stores spaces in a SQLite file, for one process.
///
/// ```swift
/// let sync = SyncService(store: try SQLiteSyncStore(at: file), hub: hub) { subject, space, access in
///     members.contains(subject, in: space)
/// }
/// ```
///
/// The verdicts on a packet are on the drive when the device receives them: they survive `kill -9` and a power loss.
/// Requests that arrive at the same time share a transaction.
public final class SQLiteSyncStore: SyncStore {
    /// Called with each transaction of a device before it is committed, inside the transaction of the database. Its
    /// writes are committed together with the rows.
    ///
    /// If it throws `SyncRefusal`, the transaction of the device is refused. Any other error fails the
    /// request, which the device repeats. It must not write the tables of the store, and is called again for the other
    /// transactions of a request if it refuses one.
    public typealias Hook = @Sendable (SyncCommit, Database) throws -> Void

    private typealias Body = @Sendable (Database) throws -> any Sendable

    private let writer: GroupCommit<Body, Result<any Sendable, any Error>>
    private let hook: Hook?
    private let closeFile: @Sendable () throws -> Void

    /// Opens a file, or creates it so that only its user can read it. The initializer blocks.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - limits: Limits for pending requests and for requests that are committed together.
    ///   - hook: Called with each transaction before its commit. It may use tables of the app, which the app creates by
    ///     ``SQLiteSyncStore/transaction(_:)``. The default does nothing.
    /// - Throws: ``ServerStorageError``.
    public init(
        at file: URL, limits: ActionLogWriterLimits = ActionLogWriterLimits(), hook: Hook? = nil
    ) throws(ServerStorageError) {
        let database = try ServerDatabase(
            at: file, SyncTableDefinitions.schema, waitsForDrive: limits.survivesPowerLoss)
        self.hook = hook
        writer = GroupCommit(label: "runway.sync", limits: limits.queue) { bodies in
            try database.write { database in try bodies.map { try Self.perform($0, in: database) } }
        }
        closeFile = { try database.close() }
    }

    /// Creates the tables of spaces in a database of the app, beside its own tables. Their names begin with
    /// `runway_sync_`. Blocks.
    ///
    /// The app's configuration decides on durability. The app may use the database at the same time, in this process.
    ///
    /// - Parameters:
    ///   - database: The app's database.
    ///   - limits: Limits for pending requests and for requests that are committed together.
    ///   - hook: Called with each transaction before its commit. The default does nothing.
    /// - Throws: The error of the database.
    public init(
        in database: any DatabaseWriter, limits: ActionLogWriterLimits = ActionLogWriterLimits(), hook: Hook? = nil
    ) throws {
        try database.write { try SyncTableDefinitions.create(in: $0) }
        self.hook = hook
        writer = GroupCommit(label: "runway.sync", limits: limits.queue) { bodies in
            do {
                return try database.write { database in try bodies.map { try Self.perform($0, in: database) } }
            } catch {
                throw ServerStorageError(error, at: URL(fileURLWithPath: database.path))
            }
        }
        closeFile = {}
    }

    /// Opens a file to read it, also while a server writes it. Each request fails if the file can't be read, and so
    /// does a request that writes.
    package init(reading file: URL) {
        hook = nil
        writer = GroupCommit(label: "runway.sync", limits: ActionLogWriterLimits().queue) { bodies in
            try ServerDatabase.read(file, SyncTableDefinitions.schema) { database, _ in
                try bodies.map { try Self.perform($0, in: database) }
            }
        }
        closeFile = {}
    }

    /// Runs a transaction on the app's own tables in the file, for example to create them.
    ///
    /// - Throws: The error of `body`, and nothing is changed; ``ServerStorageError`` if the file can't be written.
    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let value = try await commit(byteCount: 0) { try body($0) }
        guard let value = value as? Value else { preconditionFailure("a body returns the value of its type") }
        return value
    }

    /// Performs the pending requests, and closes the file. Later requests are refused.
    ///
    /// - Throws: ``ServerStorageError``.
    public func close() async throws {
        await writer.close()
        try closeFile()
    }

    private func commit(byteCount: Int, _ body: @escaping Body) async throws -> any Sendable {
        try await writer.commit(body, byteCount: 256 + byteCount).get()
    }

    /// Runs one of several bodies of a transaction. If it throws, only its own changes are undone.
    ///
    /// - Throws: An error of the database, which may have ended the transaction: the other bodies must not run in it.
    private static func perform(_ body: Body, in database: Database) throws -> Result<any Sendable, any Error> {
        var value: (any Sendable)?
        do {
            try database.inSavepoint {
                value = try body(database)
                return .commit
            }
        } catch let error as DatabaseError {
            throw error
        } catch {
            return .failure(error)
        }
        guard let value else { preconditionFailure("a savepoint that commits has a value") }
        return .success(value)
    }
}

extension SQLiteSyncStore: SyncDatabase {
    package func transaction<Value: Sendable>(
        _ access: SyncTransactionAccess, in space: Identifier, byteCount: Int,
        _ body: @escaping @Sendable (inout any SyncTables) throws -> Value
    ) async throws -> Value? {
        let value = try await commit(byteCount: byteCount) { [hook] database -> Value? in
            var tables: any SyncTables
            switch access {
            case .writing: tables = try SQLiteSyncTables(creatingIn: database, space, hook: hook)
            case .reading:
                guard let present = try SQLiteSyncTables(database, space, hook: hook) else { return nil }
                tables = present
            }
            return try body(&tables)
        }
        return value as? Value
    }

    package func spaces(after space: Identifier?, limit: Int) async throws -> [Identifier] {
        try await transaction { database in
            try Row.fetchAll(
                database, sql: "SELECT space FROM runway_sync_space WHERE space > ? ORDER BY space LIMIT ?",
                arguments: [space?.data ?? Data(), limit]
            ).map { try $0.identifier(0) }
        }
    }
}
