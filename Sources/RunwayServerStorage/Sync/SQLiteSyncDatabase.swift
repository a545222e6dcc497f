public import Foundation
public import GRDB
public import RunwayServer
import RunwaySyncCore

extension SyncStore {
    /// Called with each transaction of a device before it is committed, inside the transaction of a SQLite database.
    /// Its writes are committed together with the rows.
    ///
    /// If it throws `SyncRefusal`, the transaction of the device is refused. Any other error fails the
    /// request, which the device repeats. It must not write the tables of the store, and is called again for the other
    /// transactions of a request if it refuses one.
    public typealias SQLiteHook = @Sendable (SyncCommit, Database) throws -> Void

    /// Stores spaces in a SQLite file, for one process. Creates the file so that only its user can read it. Blocks.
    ///
    /// ```swift
    /// let sync = SyncService(store: try .sqlite(at: file), hub: hub) { subject, space, access in
    ///     members.contains(subject, in: space)
    /// }
    /// ```
    ///
    /// The verdicts on a packet are on the drive when the device receives them: they survive `kill -9` and a power
    /// loss. Requests that arrive at the same time share a transaction.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - limits: Limits for pending requests and for requests that are committed together.
    ///   - hook: Called with each transaction before its commit. The default does nothing.
    ///   - prepare: Runs in a transaction before the first request, for example to create tables that the hook writes.
    ///     The default does nothing.
    /// - Throws: ``ServerStorageError``.
    public static func sqlite(
        at file: URL, limits: ActionLogWriterLimits = ActionLogWriterLimits(),
        hook: SQLiteHook? = nil, prepare: (Database) throws -> Void = { _ in }
    ) throws(ServerStorageError) -> SyncStore {
        SyncStore(try SQLiteSyncDatabase(at: file, limits: limits, hook: hook, prepare: prepare))
    }

    /// Stores spaces in a database of the app, beside its own tables, for one process. Creates tables whose names begin
    /// with `runway_sync_`, unless they are there. Blocks.
    ///
    /// The app's configuration decides on durability. The app may use the database at the same time, in this process.
    ///
    /// - Parameters:
    ///   - database: The app's database.
    ///   - limits: Limits for pending requests and for requests that are committed together.
    ///   - hook: Called with each transaction before its commit. The default does nothing.
    /// - Throws: The error of the database.
    public static func sqlite(
        in database: any DatabaseWriter, limits: ActionLogWriterLimits = ActionLogWriterLimits(),
        hook: SQLiteHook? = nil
    ) throws -> SyncStore {
        SyncStore(try SQLiteSyncDatabase(in: database, limits: limits, hook: hook))
    }

    /// Opens a file to read it, also while a server writes it. Each request fails if the file can't be read, and so
    /// does a request that writes.
    package static func sqlite(reading file: URL) -> SyncStore { SyncStore(SQLiteSyncDatabase(reading: file)) }
}

/// Spaces in a SQLite file.
final class SQLiteSyncDatabase: SyncDatabase {
    private typealias Body = @Sendable (SQLiteSyncTransaction) throws -> any Sendable

    private let writer: GroupCommit<Body, Result<any Sendable, any Error>>
    private let closeFile: @Sendable () throws -> Void

    init(
        at file: URL, limits: ActionLogWriterLimits, hook: SyncStore.SQLiteHook?,
        prepare: (Database) throws -> Void
    ) throws(ServerStorageError) {
        let database = try ServerDatabase(
            at: file, SyncTableDefinitions.schema, waitsForDrive: limits.survivesPowerLoss)
        do { try database.write { try prepare($0) } } catch { throw ServerStorageError(error, at: file) }
        writer = GroupCommit(label: "runway.sync", limits: limits.queue) { bodies in
            try database.write { try Self.perform(bodies, in: $0, hook) }
        }
        closeFile = { try database.close() }
    }

    init(in database: any DatabaseWriter, limits: ActionLogWriterLimits, hook: SyncStore.SQLiteHook?) throws {
        try database.write { try SyncTableDefinitions.create(in: $0) }
        writer = GroupCommit(label: "runway.sync", limits: limits.queue) { bodies in
            do {
                return try database.write { try Self.perform(bodies, in: $0, hook) }
            } catch {
                throw ServerStorageError(error, at: URL(fileURLWithPath: database.path))
            }
        }
        closeFile = {}
    }

    init(reading file: URL) {
        writer = GroupCommit(label: "runway.sync", limits: ActionLogWriterLimits().queue) { bodies in
            try ServerDatabase.read(file, SyncTableDefinitions.schema) { database, _ in
                try Self.perform(bodies, in: database, nil)
            }
        }
        closeFile = {}
    }

    func close() async throws {
        await writer.close()
        try closeFile()
    }

    private func commit(byteCount: Int, _ body: @escaping Body) async throws -> any Sendable {
        try await writer.commit(body, byteCount: 256 + byteCount).get()
    }

    /// Runs the requests of a group in one transaction. The error of one request is its result.
    ///
    /// - Throws: An error of the database, which may have ended the transaction: the other requests must not run in it.
    private static func perform(
        _ bodies: [Body], in database: Database, _ hook: SyncStore.SQLiteHook?
    ) throws -> [Result<any Sendable, any Error>] {
        let transaction = SQLiteSyncTransaction(database, hook)
        let results = try bodies.map { body -> Result<any Sendable, any Error> in
            do { return .success(try body(transaction)) } catch let error as DatabaseError { throw error } catch {
                return .failure(error)
            }
        }
        try transaction.finish()
        return results
    }

    func transaction<Value: Sendable>(
        _ access: SyncTransactionAccess, in space: Identifier, byteCount: Int,
        _ body: @escaping @Sendable (inout any SyncTables) throws -> Value
    ) async throws -> Value? {
        let value = try await commit(byteCount: byteCount) { transaction -> Value? in
            try transaction.run(access, in: space, body)
        }
        return value as? Value
    }

    func spaces(after space: Identifier?, limit: Int) async throws -> [Identifier] {
        let spaces = try await commit(byteCount: 0) { transaction in
            try transaction.finish()
            return try Row.fetchAll(
                transaction.database,
                sql: "SELECT space FROM runway_sync_space WHERE space > ? ORDER BY space LIMIT ?",
                arguments: [space?.data ?? Data(), limit]
            ).map { try $0.identifier(0) }
        }
        guard let spaces = spaces as? [Identifier] else { preconditionFailure("the body returns ids") }
        return spaces
    }
}

/// The spaces that a transaction of the file has read.
final class SQLiteSyncTransaction {
    let database: Database
    private let hook: SyncStore.SQLiteHook?
    private var spaces: [Identifier: SQLiteSyncTables] = [:]

    init(_ database: Database, _ hook: SyncStore.SQLiteHook?) { (self.database, self.hook) = (database, hook) }

    /// Runs one request; returns `nil` if the space does not exist, and is only read.
    func run<Value>(
        _ access: SyncTransactionAccess, in space: Identifier, _ body: (inout any SyncTables) throws -> Value
    ) throws -> Value? {
        let tables = try spaces[space] ?? SQLiteSyncTables(database, space, hook)
        spaces[space] = tables
        return tables.exists || access == .writing ? try tables.run(access, body) : nil
    }

    /// Writes what is not written yet.
    func finish() throws {
        for tables in spaces.values { try tables.writeUnsent() }
    }
}
