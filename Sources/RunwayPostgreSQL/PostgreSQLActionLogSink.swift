#if PostgreSQL
    public import Foundation
    public import RunwayServer
    import Synchronization

    /// Stores the records of action logs in PostgreSQL, for any number of server processes. A record is never stored
    /// twice.
    ///
    /// ```swift
    /// let sink = try await PostgreSQLActionLogSink(at: "postgres://log@db.example.com/actions")
    /// ActionLogRoute(to: sink).add(to: router.group("v1"))
    /// ```
    ///
    /// The sink requires the package trait `PostgreSQL`, which is off by default, and libpq with its header files
    /// (Debian's `libpq-dev`). Its guarantees are those of `SQLiteActionLogSink`, unless the server's `fsync` is off.
    /// If `synchronous_commit` is off, the sink turns it on for its connections.
    ///
    /// Batches of one installation use one connection. Batches that arrive while the connection is busy share its next
    /// transaction. A transaction that conflicts with another one (`40001`, `40P01`) is retried. If the connection is
    /// lost, the batches fail, and clients send them again; the sink recognises the batches that were committed.
    public final class PostgreSQLActionLogSink: ActionLogErasing {
        private let tenant: String
        private typealias Writer = GroupCommit<ActionLogChange, Result<ActionLogStorage, StoreRefusal>>

        private let lanes: [(lane: PostgreSQLLane, writer: Writer)]
        private let queue = DispatchQueue(label: "runway.postgresql")

        /// Connects, and creates the tables if they do not exist.
        ///
        /// - Parameters:
        ///   - url: The connection string or URL of the database, in libpq's format.
        ///   - tenant: Separates the records of several apps in one database; the first column of all keys. The default
        ///     is `default`.
        ///   - connectionCount: The maximum number of connections for writing. The default is 4.
        ///   - limits: Limits per connection: for pending batches, and for batches that are committed together.
        ///     `survivesPowerLoss` has no effect.
        ///   - quotas: Limits for the stored bytes. The default is that of `ActionLogQuotas`. Each server process
        ///     counts the sources that it receives, and reads the total size of the log once a minute.
        ///   - now: Returns the date that is stored as the time of receipt. The default is the system's clock.
        /// - Throws: ``PostgreSQLError``.
        public init(
            at url: String, tenant: String = "default", connectionCount: Int = 4,
            limits: ActionLogWriterLimits = ActionLogWriterLimits(), quotas: ActionLogQuotas = ActionLogQuotas(),
            now: @escaping @Sendable () -> Date = { Date() }
        ) async throws {
            self.tenant = tenant
            let size = PostgreSQLLogSize(gate: ActionLogGate(quotas), tenant: tenant)
            lanes = (0..<max(1, connectionCount)).map { index in
                let lane = PostgreSQLLane(url)
                let writer = Writer(label: "runway.postgresql.\(index)", limits: limits.queue) { changes in
                    let received = Int64(now().timeIntervalSince1970 * 1_000_000)
                    return try Self.perform(changes, over: lane, tenant, size, received: received)
                }
                return (lane, writer)
            }
            try await read { [tenant] lane throws(PostgreSQLError) in
                for statement in ActionLogStatements.tables { try Self.create([statement], over: lane) }
                for (probe, state, additions) in [
                    (ActionLogStatements.probe, "42703", [ActionLogStatements.addition]),
                    (ActionLogStatements.usageProbe, "42P01", ActionLogStatements.usageAddition),
                ] {
                    do throws(PostgreSQLError) {
                        _ = try lane.transaction { connection throws(PostgreSQLError) in
                            try connection.run(probe, [tenant])
                        }
                    } catch {
                        guard error.state == state else { throw error }
                        try Self.create(additions, over: lane)
                    }
                }
            }
        }

        /// Stores a batch, and returns when it is durable.
        ///
        /// - Throws:
        ///   - `StoreRefusal.busy` if too many batches are pending.
        ///   - `StoreRefusal` if the batch exceeds a quota.
        ///   - `StoreRefusal.rejected` if PostgreSQL does not accept one of the batch's values.
        ///   - ``PostgreSQLError``, or `CancellationError` after ``close()``.
        public func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage {
            let change = ActionLogChange.batch(batch)
            do {
                return try await writer(of: batch.installation).commit(change, byteCount: change.byteCount).get()
            } catch let error as PostgreSQLError where error.isDataException {
                throw StoreRefusal.rejected
            }
        }

        /// Removes the contents of all records of an account. Their ids stay, so that a record that is sent again is
        /// not stored a second time.
        ///
        /// Batches that are pending in this process are stored and erased before the function returns. Batches that are
        /// pending in another process are not erased. Each transaction erases at most 1,000 records; if the function
        /// throws, some records may be erased.
        ///
        /// - Throws: ``PostgreSQLError``, `StoreRefusal.busy` or `CancellationError`, as ``store(_:)`` does.
        public func erase(account: String) async throws {
            // Each connection may have pending batches of the account.
            for lane in lanes { try await erase(.account(account), through: lane.writer) }
        }

        /// Removes the contents of an installation's records without an account, by the rules of ``erase(account:)``.
        ///
        /// - Parameter installation: The installation id of the batches.
        /// - Throws: The errors of ``erase(account:)``.
        public func erase(anonymousRecordsOf installation: UUID) async throws {
            try await erase(.nobody(installation: installation), through: writer(of: installation))
        }

        private func erase(
            _ owner: ActionLogOwner, through writer: Writer
        ) async throws {
            let change = ActionLogChange.erasure(owner)
            var storage = ActionLogStorage.stored(duplicates: [])
            while storage != .known {
                storage = try await writer.commit(change, byteCount: change.byteCount).get()
            }
        }

        /// Returns the writer of an installation. All its batches use the same connection.
        private func writer(of installation: UUID) -> Writer {
            lanes[Int(UInt(bitPattern: installation.hashValue) % UInt(lanes.count))].writer
        }

        /// Returns the number of records for each installation and name, most frequent first within an installation.
        ///
        /// - Throws: ``PostgreSQLError``.
        public func counts() async throws -> [(installation: UUID, name: String, count: Int)] {
            Self.counts(try await rows(ActionLogStatements.counts, [tenant]))
        }

        /// Counts the records of a database for each installation and name, most frequent first within an installation.
        /// The database is not changed.
        ///
        /// - Parameters:
        ///   - url: The connection string or URL of the database, in libpq's format.
        ///   - tenant: The tenant of the sink that stored the records. The default is `default`.
        /// - Throws: ``PostgreSQLError``. Its ``PostgreSQLError/state`` is `42P01` if no sink has ever used the
        ///   database.
        public static func counts(at url: String, tenant: String = "default") async throws -> [(
            installation: UUID, name: String, count: Int
        )] {
            let lane = PostgreSQLLane(url)
            let rows = try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "runway.postgresql.counts").async {
                    continuation.resume(
                        with: Result {
                            try lane.transaction { connection throws(PostgreSQLError) in
                                try connection.run("SET TRANSACTION READ ONLY")
                                return try connection.run(ActionLogStatements.counts, [tenant])
                            }
                        })
                }
            }
            return counts(rows)
        }

        private static func counts(_ rows: [[String?]]) -> [(installation: UUID, name: String, count: Int)] {
            rows.compactMap { row in
                guard let installation = row[0].flatMap({ UUID(uuidString: $0) }),
                    let count = row[2].flatMap({ Int($0) })
                else { return nil }
                return (installation, row[1] ?? "", count)
            }
        }

        /// Returns the oldest records in order of receipt. Records whose contents were removed are omitted.
        ///
        /// The order is inexact if the clocks of the server processes differ. Within an installation, `seq` in the
        /// records is the exact order. ``StoredAction/sequence`` is the time of receipt in microseconds, which is equal
        /// for all records of one transaction.
        ///
        /// - Parameter limit: The maximum number of records. The default is 1,000.
        /// - Throws: ``PostgreSQLError``.
        public func records(limit: Int = 1000) async throws -> [StoredAction] {
            let rows = try await rows(ActionLogStatements.records, [tenant, "\(limit)"])
            return rows.compactMap { row in
                guard let id = row[1].flatMap({ UUID(uuidString: $0) }),
                    let installation = row[2].flatMap({ UUID(uuidString: $0) })
                else { return nil }
                return StoredAction(
                    sequence: row[0].flatMap { Int64($0) } ?? 0, id: id, installation: installation, name: row[3] ?? "",
                    json: row[4].flatMap { [UInt8](bytea: $0) } ?? [],
                    received: row[0].date ?? Date(timeIntervalSince1970: 0),
                    sent: row[5].date)
            }
        }

        /// Stores the pending batches, then refuses further batches.
        public func close() async { for lane in lanes { await lane.writer.close() } }

        private func rows(_ statement: String, _ parameters: [String]) async throws -> [[String?]] {
            try await read { lane throws(PostgreSQLError) in
                try lane.transaction { connection throws(PostgreSQLError) in try connection.run(statement, parameters) }
            }
        }

        private func read<Value: Sendable>(
            _ body: @escaping @Sendable (PostgreSQLLane) throws(PostgreSQLError) -> Value
        ) async throws -> Value {
            let lane = lanes[0].lane
            return try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try body(lane) }) }
            }
        }

        /// Creates tables in one transaction. If two servers start at the same time, both may find the tables absent.
        private static func create(_ statements: [String], over lane: PostgreSQLLane) throws(PostgreSQLError) {
            do {
                try lane.transaction { connection throws(PostgreSQLError) in
                    for statement in statements { try connection.run(statement) }
                }
            } catch {
                // Another server has just created the table or index; a unique violation in the catalogue means the
                // same.
                guard ["23505", "42P07", "42710"].contains(error.state) else { throw error }
            }
        }

        private static func perform(
            _ changes: [ActionLogChange], over lane: PostgreSQLLane, _ tenant: String, _ size: PostgreSQLLogSize,
            received: Int64
        ) throws(PostgreSQLError) -> [Result<ActionLogStorage, StoreRefusal>] {
            // All transactions lock streams in the same order, which prevents deadlocks. Batches of one stream stay in
            // order. Erasures come last, since they lock the rows of batches. An erasure may thus erase records of
            // batches that were enqueued after it.
            let order = changes.indices.sorted { (changes[$0].order, $0) < (changes[$1].order, $1) }
            let (results, room) = try lane.transaction { connection throws(PostgreSQLError) in
                var room = try size.room(connection, at: received)
                var results = [Result<ActionLogStorage, StoreRefusal>](
                    repeating: .success(.known), count: changes.count)
                for index in order {
                    switch changes[index] {
                    case .batch(let batch):
                        results[index] = try store(batch, connection, tenant, received: received, within: &room)
                    case .erasure(let owner):
                        if try erase(owner, connection, tenant) { results[index] = .success(.stored(duplicates: [])) }
                    }
                }
                return (results, room)
            }
            size.didCommit(room)
            return results
        }

        /// Erases a part of the records. Returns `false` if no record was left to erase.
        private static func erase(
            _ owner: ActionLogOwner, _ connection: PostgreSQLConnection, _ tenant: String
        ) throws(PostgreSQLError) -> Bool {
            let erased =
                switch owner {
                case .account(let account): try connection.run(ActionLogStatements.erase, [tenant, account])
                case .nobody(let installation):
                    try connection.run(ActionLogStatements.eraseAnonymous, [tenant, installation.uuidString])
                }
            for installation in erased { try connection.run(ActionLogStatements.release, [tenant] + installation) }
            return !erased.isEmpty
        }

        private static func store(
            _ batch: ActionLogBatch, _ connection: PostgreSQLConnection, _ tenant: String, received: Int64,
            within room: inout ActionLogRoom
        ) throws(PostgreSQLError) -> Result<ActionLogStorage, StoreRefusal> {
            let key = [tenant, batch.installation.uuidString, batch.stream.uuidString]
            func state() throws(PostgreSQLError) -> (highest: Int64?, byteCount: Int) {
                let row = try connection.run(ActionLogStatements.state, key)[0]
                return (row[0].flatMap { Int64($0) }, row[1].flatMap { Int($0) } ?? 0)
            }
            var (number, byteCount) = try state()
            if batch.number > number ?? 0 {
                guard batch.number == (number ?? 0) + 1 else { return .success(.gap(expected: (number ?? 0) + 1)) }
                let refusal = try room.refusal(of: batch, installationByteCount: byteCount) {
                    () throws(PostgreSQLError) in try knownIDs(of: batch, connection, tenant)
                }
                if let refusal { return .failure(refusal) }
            }
            if number == nil {
                // The row of the stream is created only now, so that a refused batch leaves no row. Another server may
                // have created the row meanwhile, so the row is read again.
                try connection.run(ActionLogStatements.begin, key)
                (number, byteCount) = try state()
            }
            let highest = number ?? 0
            if batch.number <= highest {
                // A client that was restored from a backup reuses batch numbers for other records.
                let known = try knownIDs(of: batch, connection, tenant)
                let hasAll = batch.records.allSatisfy { known.contains($0.id) }
                return .success(hasAll ? .known : .gap(expected: highest + 1))
            }
            let sent = batch.sent.map { "\(Int64(max(-1e15, min($0.timeIntervalSince1970 * 1e6, 1e18))))" }
            var duplicates = Set(batch.records.map(\.id))
            // PostgreSQL accepts at most 65,535 parameters.
            for start in stride(from: 0, to: batch.records.count, by: 1000) {
                let records = batch.records[start..<min(start + 1000, batch.records.count)]
                var parameters: [String?] = key + ["\(batch.number)", "\(received)", batch.account, sent]
                for (place, record) in zip(records.indices, records) {
                    parameters += [record.id.uuidString, "\(place)", record.name, record.json.bytea]
                }
                let stored = try connection.run(ActionLogStatements.insertion(of: records.count), parameters)
                duplicates.subtract(stored.compactMap { $0[0].flatMap { UUID(uuidString: $0) } })
            }
            let stored = batch.records.reduce(into: [UUID: Int]()) { $0[$1.id] = batch.byteCount(of: $1) }
                .reduce(batch.streamByteCount) { $0 + (duplicates.contains($1.key) ? 0 : $1.value) }
            room.add(stored, of: batch)
            try connection.run(ActionLogStatements.advance, key + ["\(batch.number)", "\(stored)"])
            return .success(.stored(duplicates: duplicates))
        }

        private static func knownIDs(
            of batch: ActionLogBatch, _ connection: PostgreSQLConnection, _ tenant: String
        ) throws(PostgreSQLError) -> Set<UUID> {
            let list = "{\(batch.records.map(\.id.uuidString).joined(separator: ","))}"
            let rows = try connection.run(ActionLogStatements.known, [tenant, list])
            return Set(rows.compactMap { $0[0].flatMap { UUID(uuidString: $0) } })
        }
    }

    /// The size of the whole log in bytes. It is read once a minute. Between two reads, the bytes that this process
    /// stores are added.
    private final class PostgreSQLLogSize: Sendable {
        private struct State {
            var byteCount = 0
            /// The time when the size is read again, in microseconds since 1970.
            var end = Int64.min
        }

        private let gate: ActionLogGate
        private let tenant: String
        /// Guards the size, and the time when it is read again.
        private let state = Mutex(State())

        init(gate: ActionLogGate, tenant: String) { (self.gate, self.tenant) = (gate, tenant) }

        /// Returns the free space for the batches of a transaction.
        func room(_ connection: PostgreSQLConnection, at time: Int64) throws(PostgreSQLError) -> ActionLogRoom {
            if state.withLock({ time >= $0.end || $0.end - time > 60_000_000 }) {
                let sum = try connection.run(ActionLogStatements.usage, [tenant]).first?[0].flatMap { Int($0) }
                state.withLock { $0 = State(byteCount: sum ?? 0, end: time + 60_000_000) }
            }
            let byteCount = state.withLock { $0.byteCount }
            return gate.room(of: gate.quotas.maximumByteCount - byteCount, at: time / 1000)
        }

        func didCommit(_ room: ActionLogRoom) {
            state.withLock { $0.byteCount += room.addedByteCount }
            room.didCommit()
        }
    }

    extension ActionLogChange {
        /// The sort key of a change within its transaction.
        fileprivate var order: String {
            switch self {
            case .batch(let batch): batch.installation.uuidString + batch.stream.uuidString
            // "~" sorts after all hexadecimal digits.
            case .erasure: "~"
            }
        }
    }

    extension String? {
        /// Reads a column that holds microseconds since 1970.
        fileprivate var date: Date? {
            flatMap { Int64($0) }.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
        }
    }
#endif
