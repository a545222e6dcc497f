#if PostgreSQL
    public import RunwaySignatures
    import Synchronization

    /// Stores used nonces in PostgreSQL, for any number of server processes behind one name.
    ///
    /// ```swift
    /// let nonces = try await PostgreSQLNonceStore(at: "postgres://api@db.example.com/api", startedAt: now)
    /// router.add(middleware: SignatureMiddleware(rules, keys: keys, nonces: nonces))
    /// ```
    ///
    /// The store requires the package trait `PostgreSQL`, like ``PostgreSQLActionLogSink``. A nonce is claimed by
    /// inserting a row, so that only one of several servers accepts a signature. Nonces survive a power loss, unless
    /// the server's `fsync` is off.
    ///
    /// After a restart the store accepts requests at once. Only if its table is new does it refuse signatures that may
    /// have been made before `startedAt`. A database that was restored from a backup lacks later nonces: delete the
    /// rows of the tenant in both tables and restart the servers, so that the store begins without nonces.
    ///
    /// Nonces are removed when they have expired by the clock of a server. From then on, signatures that expire no
    /// later are refused. The size of the database is the only limit for all keys together.
    public final class PostgreSQLNonceStore: NonceStore {
        /// The minimum number of seconds between two removals of one process.
        private static let removalInterval: Int64 = 10
        /// The maximum number of parts of a removal, each of at least 1,000 nonces. A process can thus remove over
        /// 2,000 nonces a second.
        private static let maximumPartCount = 25

        private let tenant: String
        private let pool: PostgreSQLPool
        private let maximumNoncesPerKey: Int
        /// Guards the time of the last removal, in seconds since 1970.
        private let lastRemoval = Mutex(Int64.min)

        /// Connects, and creates the tables if they do not exist.
        ///
        /// - Parameters:
        ///   - url: The connection string or URL of the database, in libpq's format.
        ///   - tenant: Separates the data of several apps in one database; the first column of all keys. The default is
        ///     `default`.
        ///   - startedAt: The current time of the server's clock. For a new tenant, it is recorded as the time from
        ///     which nonces are known.
        ///   - connectionCount: The maximum number of connections. The default is 4.
        ///   - maximumNoncesPerKey: The maximum number of unexpired nonces per key; further claims of the key are
        ///     refused. They are counted at each claim. The default is 10,000: about 80 requests a second.
        /// - Throws: ``PostgreSQLError``.
        public init(
            at url: String, tenant: String = "default", startedAt: UnixTime, connectionCount: Int = 4,
            maximumNoncesPerKey: Int = 10_000
        ) async throws {
            self.tenant = tenant
            self.maximumNoncesPerKey = max(1, maximumNoncesPerKey)
            pool = PostgreSQLPool(url, connectionCount: connectionCount)
            try await pool.create(NonceStatements.tables)
            try await pool.transaction(for: "") { connection throws(PostgreSQLError) in
                let earliest = UnixTime(seconds: .min).seconds
                _ = try connection.run(NonceStatements.begin, [tenant, "\(startedAt.seconds)", "\(earliest)"])
            }
        }

        /// Records a nonce as used. Returns whether it was new.
        public func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim {
            // A failed removal is repeated later, so its error is ignored instead of refusing the request.
            try? await removeExpired(at: now)
            let names = [tenant, Array(nonce.keyID.utf8).bytea, Array(nonce.value.utf8).bytea]
            let maximum = maximumNoncesPerKey
            return try await pool.transaction(for: nonce.keyID + nonce.value) {
                connection throws(PostgreSQLError) -> NonceClaim in
                // The row of the tenant is read again below, and must then include commits of other servers.
                try connection.run(NonceStatements.isolation)
                let (began, first) = try Self.memory(connection, names[0])
                if nonce.created.seconds < began { return .beforeStart(UnixTime(seconds: began)) }
                if nonce.expires.seconds < max(first, now.seconds) { return .beforeMemory }
                let bounds = ["\(maximum)", "\(now.seconds)"]
                let count = try connection.run(NonceStatements.usage, [names[0], names[1]] + bounds).first
                if count?[0].flatMap({ Int($0) }) ?? 0 >= maximum {
                    return try connection.run(NonceStatements.find, names).isEmpty ? .full : .replayed
                }
                let values = names + ["\(nonce.expires.seconds)"]
                guard try !connection.run(NonceStatements.insert, values).isEmpty else { return .replayed }
                // Another server may have removed this nonce after its use. That server recorded the new expiry limit
                // before the removal.
                if nonce.expires.seconds < (try Self.memory(connection, names[0])).first {
                    try connection.run(NonceStatements.take, names)
                    return .beforeMemory
                }
                return .claimed
            }
        }

        /// Returns two times: the time from which nonces are known, and the expiry time before which nonces may have
        /// been removed.
        private static func memory(
            _ connection: PostgreSQLConnection, _ tenant: String
        ) throws(PostgreSQLError) -> (began: Int64, first: Int64) {
            guard let row = try connection.run(NonceStatements.memory, [tenant]).first,
                let began = row[0].flatMap({ Int64($0) }), let first = row[1].flatMap({ Int64($0) })
            else { throw PostgreSQLError(state: "P0002", "The row of a memory of nonces is missing.") }
            return (began, first)
        }

        /// Removes expired nonces, if a removal is due. Before each part, a separate transaction records the expiry
        /// time up to which nonces are removed. A request whose nonce is no longer found is judged by this limit.
        private func removeExpired(at now: UnixTime) async throws {
            let isDue = lastRemoval.withLock { last in
                guard last == .min || abs(now.seconds - last) >= Self.removalInterval else { return false }
                last = now.seconds
                return true
            }
            guard isDue else { return }
            for _ in 0..<Self.maximumPartCount where try await !removePart(at: now) { return }
        }

        /// Removes the nonces that expired first. Returns `false` if no nonce has expired.
        private func removePart(at now: UnixTime) async throws -> Bool {
            let tenant = tenant
            let last = try await pool.transaction(for: "") { connection throws(PostgreSQLError) -> Int64? in
                let row = try connection.run(NonceStatements.lastExpired, [tenant, "\(now.seconds)"]).first
                guard let last = row?[0].flatMap({ Int64($0) }) else { return nil }
                try connection.run(NonceStatements.forget, [tenant, "\(last + 1)"])
                return last
            }
            guard let last else { return false }
            try await pool.transaction(for: "") { connection throws(PostgreSQLError) in
                _ = try connection.run(NonceStatements.remove, [tenant, "\(last)"])
            }
            return true
        }
    }
#endif
