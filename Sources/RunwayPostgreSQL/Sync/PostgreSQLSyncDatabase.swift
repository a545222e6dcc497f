#if PostgreSQL
    public import RunwayServer
    import RunwaySyncCore

    extension SyncStore {
        /// Called with each transaction of a device before it is committed, inside the transaction of a PostgreSQL
        /// database. Its writes are committed together with the rows.
        ///
        /// If it throws `SyncRefusal`, the transaction of the device is refused. Any other error fails the request,
        /// which the device repeats. The space is locked during the call. The hook must not use the tables of the
        /// store. It is called again if the transaction conflicts with others.
        public typealias PostgreSQLHook = @Sendable (SyncCommit, borrowing PostgreSQLTransaction) throws -> Void

        /// Stores spaces in PostgreSQL, for any number of server processes. Connects, and creates the tables if they do
        /// not exist.
        ///
        /// ```swift
        /// let store = try await SyncStore.postgreSQL(at: "postgres://sync@db.example.com/sync")
        /// let log = try await PostgreSQLEventLog(at: "postgres://sync@db.example.com/sync", name: "sync")
        /// let hub = try await EventHub(name: "sync", log: log)
        /// let sync = SyncService(store: store, hub: hub) { subject, space, access in
        ///     members.contains(subject, in: space)
        /// }
        /// ```
        ///
        /// The store requires the package trait `PostgreSQL`, like ``PostgreSQLActionLogSink``. A transaction that
        /// writes locks the row of its space until the commit. The numbers of the log therefore have no gap and become
        /// visible in their order. Spaces do not wait for each other. Requests that arrive at the same time for one
        /// space share a transaction. The verdicts on a packet survive a power loss, unless the server's `fsync` is
        /// off.
        ///
        /// - Parameters:
        ///   - url: The connection string or URL of the database, in libpq's format.
        ///   - tenant: Separates the data of several apps in one database; the first column of all keys. The default is
        ///     `default`.
        ///   - connectionCount: The maximum number of connections that write; as many others read. The default is 4.
        ///   - hook: Called with each transaction before its commit. The default does nothing.
        /// - Throws: ``PostgreSQLError``.
        public static func postgreSQL(
            at url: String, tenant: String = "default", connectionCount: Int = 4, hook: PostgreSQLHook? = nil
        ) async throws -> SyncStore {
            let database = PostgreSQLSyncDatabase(
                administering: url, tenant: tenant, connectionCount: connectionCount, hook: hook)
            try await database.createTables()
            return SyncStore(database)
        }

        /// Opens a database for its administration. The tables are not created; if they do not exist, each function
        /// throws ``PostgreSQLError`` with state `42P01`.
        package static func postgreSQL(administering url: String) -> SyncStore {
            SyncStore(PostgreSQLSyncDatabase(administering: url, tenant: "default", connectionCount: 1, hook: nil))
        }
    }

    /// Spaces in PostgreSQL.
    private final class PostgreSQLSyncDatabase: SyncDatabase {
        private let tenant: String
        private let hook: SyncStore.PostgreSQLHook?
        /// Reads over separate connections, since writers may wait for writers of other processes.
        private let reader: PostgreSQLPool
        private let writer: PostgreSQLPool
        private let writes: SyncWrites

        init(administering url: String, tenant: String, connectionCount: Int, hook: SyncStore.PostgreSQLHook?) {
            (self.tenant, self.hook) = (tenant, hook)
            reader = PostgreSQLPool(url, connectionCount: connectionCount)
            let writer = PostgreSQLPool(url, connectionCount: connectionCount)
            self.writer = writer
            writes = SyncWrites { space, bodies in
                try await writer.transaction(for: "\(space)") { connection throws(PostgreSQLError) in
                    let tables = try PostgreSQLSyncTables.begin(.writing, tenant, space, hook: hook, on: connection)
                    return try tables?.run(bodies) ?? []
                }
            }
        }

        func createTables() async throws { try await writer.create(SyncStatements.tables) }

        func close() {}

        func transaction<Value: Sendable>(
            _ access: SyncTransactionAccess, in space: Identifier, byteCount: Int,
            _ body: @escaping @Sendable (inout any SyncTables) throws -> Value
        ) async throws -> Value? {
            if access == .writing {
                return try await writes.run({ try body(&$0) }, in: space, byteCount: byteCount) as? Value
            }
            // Requests that read one space run over several connections.
            let connection = "\(UInt32.random(in: 0...UInt32.max))"
            let outcome = try await reader.transaction(for: connection) {
                [tenant, hook] connection throws(PostgreSQLError) in
                try PostgreSQLSyncTables.begin(.reading, tenant, space, hook: hook, on: connection)?.run([body]).first
            }
            return try outcome?.get() as? Value
        }

        func spaces(after space: Identifier?, limit: Int) async throws -> [Identifier] {
            let tenant = tenant
            return try await reader.transaction(for: "") { connection throws(PostgreSQLError) in
                let page = try connection.run([
                    PostgreSQLCommand(SyncStatements.spaces, [.text(tenant), .id(space), .integer(Int64(limit))])
                ])[0]
                return (0..<page.count).map { page.id($0, 0) }
            }
        }
    }

    /// The transaction in which a hook of `SyncStore.PostgreSQLHook` runs. It can't be stored beyond the call.
    public struct PostgreSQLTransaction: ~Copyable {
        private let connection: PostgreSQLConnection

        init(_ connection: PostgreSQLConnection) { self.connection = connection }

        /// Runs a statement, which must not end the transaction.
        ///
        /// - Parameters:
        ///   - statement: The statement, with `$1`, `$2`, … for parameters.
        ///   - parameters: The values of the parameters, as text in PostgreSQL's format; `nil` for NULL. They must not
        ///     contain U+0000.
        /// - Returns: The values of the rows, as text in PostgreSQL's format; `nil` for NULL.
        /// - Throws: ``PostgreSQLError``. The hook has to fail with it.
        @discardableResult
        public borrowing func run(
            _ statement: String, _ parameters: [String?] = []
        ) throws(PostgreSQLError) -> [[String?]] {
            try connection.run(statement, parameters)
        }
    }
#endif
