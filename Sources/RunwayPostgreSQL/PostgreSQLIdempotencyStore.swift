#if PostgreSQL
    public import Foundation
    public import RunwayServer

    /// Stores the responses to requests with idempotency keys in PostgreSQL, for any number of server processes.
    ///
    /// ```swift
    /// let store = try await PostgreSQLIdempotencyStore(at: "postgres://api@db.example.com/api")
    /// router.add(middleware: IdempotencyMiddleware(store: store) { request, _ in account(request) })
    /// ```
    ///
    /// The store requires the package trait `PostgreSQL`, like ``PostgreSQLActionLogSink``. A key is claimed by
    /// inserting a row, so that only one of several servers executes the request. Claims and responses survive a power
    /// loss, unless the server's `fsync` is off.
    ///
    /// A claim that was never completed is removed a day after its lease. If the clock was set back since the claim,
    /// the claim is removed when no other space is left for its principal. The size of the database is the only limit
    /// for all principals together.
    public final class PostgreSQLIdempotencyStore: IdempotencyStore {
        /// The time after which a record of a request that was never completed is removed, in milliseconds. It begins
        /// at the end of the request's lease.
        private static let abandonedTime: Int64 = 86_400_000

        private let tenant: String
        private let pool: PostgreSQLPool
        private let maximumCount: Int
        private let maximumByteCount: Int

        /// Connects, and creates the tables if they do not exist.
        ///
        /// - Parameters:
        ///   - url: The connection string or URL of the database, in libpq's format.
        ///   - tenant: Separates the data of several apps in one database; the first column of all keys. The default is
        ///     `default`.
        ///   - connectionCount: The maximum number of connections. The default is 4.
        ///   - maximumCount: The maximum number of keys per principal; further claims are refused. The default is
        ///     10,000.
        ///   - maximumByteCount: The maximum size of the stored responses per principal, in bytes. The default is 64
        ///     MiB.
        /// - Throws: ``PostgreSQLError``.
        public init(
            at url: String, tenant: String = "default", connectionCount: Int = 4,
            maximumCountByPrincipal maximumCount: Int = 10_000,
            maximumByteCountByPrincipal maximumByteCount: Int = 64 << 20
        ) async throws {
            self.tenant = tenant
            self.maximumCount = max(1, maximumCount)
            self.maximumByteCount = max(1, maximumByteCount)
            pool = PostgreSQLPool(url, connectionCount: connectionCount)
            try await pool.create(IdempotencyStatements.tables)
        }

        /// Claims an idempotency key for the execution of a request. Returns whether the caller has to execute the
        /// request, or the stored response.
        public func claim(
            _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
        ) async throws -> IdempotencyClaim {
            let now = Self.milliseconds(now)
            let claim = [
                fingerprint.bytea, token.uuidString, "\(now + IdempotencyLease.milliseconds(lease))",
            ]
            let latestEnd = Self.milliseconds(IdempotencyLease.latestEnd(at: Self.date(now), lease))
            let (maximumCount, maximumByteCount) = (maximumCount, maximumByteCount)
            let found = try await run(key) { names, connection throws(PostgreSQLError) -> IdempotencyClaim? in
                try connection.run(
                    IdempotencyStatements.remove, [names[0], "\(now)", "\(now - Self.abandonedTime)"])
                func hasRoom() throws(PostgreSQLError) -> Bool {
                    let usage = try connection.run(
                        IdempotencyStatements.usage, [names[0], names[1], "\(maximumCount)"]
                    ).first
                    return usage?[0].flatMap { Int($0) } ?? 0 < maximumCount
                        && usage?[1].flatMap { Int($0) } ?? 0 < maximumByteCount
                }
                var record: [String?]?
                if try !hasRoom() {
                    // A key that has a record needs no further space. The record is looked up before the records of
                    // requests that were never completed are removed, since it may be one of them.
                    record = try connection.run(IdempotencyStatements.find, names).first
                    if record == nil {
                        let removed = try connection.run(
                            IdempotencyStatements.removeAbandoned, [names[0], names[1], "\(latestEnd)"])
                        guard !removed.isEmpty, try hasRoom() else { return nil }
                    }
                }
                if record == nil {
                    if try !connection.run(IdempotencyStatements.insert, names + claim).isEmpty { return .claimed }
                    record = try connection.run(IdempotencyStatements.find, names).first
                }
                // Another process released the key between the insertion and this lookup. This error makes the
                // transaction run again.
                guard let row = record else { throw PostgreSQLError(state: "40001", "A claim was released meanwhile.") }
                if let claim = try Self.claim(row, fingerprint, now, lease) { return claim }
                try connection.run(IdempotencyStatements.takeOver, names + claim)
                return .claimed
            }
            guard let found else { throw StoreRefusal.full() }
            return found
        }

        /// Returns the result for a key that has a record, or `nil` if the new claim of the key takes over the record.
        private static func claim(
            _ row: [String?], _ fingerprint: [UInt8], _ now: Int64, _ lease: Duration
        ) throws(PostgreSQLError) -> IdempotencyClaim? {
            guard let found = row[0].flatMap({ [UInt8](bytea: $0) }), let expiry = row[1].flatMap({ Int64($0) }) else {
                throw PostgreSQLError(state: "P0002", "A record of an idempotency key can't be read.")
            }
            if let text = row[2] {
                if expiry <= now { return nil }
                guard found == fingerprint else { return .mismatch }
                guard let bytes = [UInt8](bytea: text),
                    let response = try? JSONDecoder().decode(IdempotentResponse.self, from: Data(bytes))
                else { throw PostgreSQLError(state: "P0002", "A stored response can't be read.") }
                return .completed(response)
            }
            if found != fingerprint { return .mismatch }
            let (end, date) = (Self.date(expiry), Self.date(now))
            return IdempotencyLease.isHeld(until: end, at: date, lease) ? .inFlight(until: end) : nil
        }

        /// Stores the response to a request that was executed under a claimed key.
        public func complete(
            _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
        ) async throws -> Bool {
            let values = [
                token.uuidString, Array(try JSONEncoder().encode(response)).bytea, "\(Self.milliseconds(expiry))",
            ]
            return try await run(key) { names, connection throws(PostgreSQLError) in
                try !connection.run(IdempotencyStatements.complete, names + values).isEmpty
            }
        }

        /// Removes the claim of a key whose request was not executed, so that the key can be claimed again.
        public func release(_ key: IdempotencyKey, token: UUID) async throws {
            try await run(key) { names, connection throws(PostgreSQLError) in
                _ = try connection.run(IdempotencyStatements.release, names + [token.uuidString])
            }
        }

        private func run<Value: Sendable>(
            _ key: IdempotencyKey,
            _ body: @escaping @Sendable ([String], PostgreSQLConnection) throws(PostgreSQLError) -> Value
        ) async throws -> Value {
            let names = [tenant, key.principal, key.text]
            return try await pool.transaction(for: key.principal + key.text) {
                connection throws(PostgreSQLError) in try body(names, connection)
            }
        }

        private static func milliseconds(_ date: Date) -> Int64 {
            Int64(max(-1e15, min(date.timeIntervalSince1970 * 1000, 1e15)))
        }

        private static func date(_ milliseconds: Int64) -> Date {
            Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        }
    }
#endif
