#if PostgreSQL
    import Foundation
    public import RunwayServer
    import Synchronization

    /// Stores the last events of a hub in PostgreSQL, for any number of server processes that serve the same stream.
    ///
    /// ```swift
    /// let log = try await PostgreSQLEventLog(at: "postgres://chat@db.example.com/chat", name: "chat")
    /// let hub = try await EventHub(name: "chat", log: log)
    /// ```
    ///
    /// Offsets become visible in their order, so every process reads the events from the table in the same order.
    /// `NOTIFY` only wakes the other processes. If it is lost, or the database does not support it, they find the
    /// events within two seconds.
    public final class PostgreSQLEventLog: SharedEventLog {
        private let url: String
        let tenant: String
        let name: String
        private let maximumCount: Int
        private let maximumByteCount: Int
        /// Guards the number of bytes that this process has stored since it last counted the bytes of all processes.
        private let uncounted: Mutex<Int>
        /// Reads events over a separate connection, since appends may wait for appends of other processes.
        let reader: PostgreSQLPool
        /// Reads present members over another connection, so that pages and replays do not wait for each other.
        let presenceReader: PostgreSQLPool
        let writer: PostgreSQLPool
        private let channel: String

        /// Connects, and creates the tables if they do not exist.
        ///
        /// - Parameters:
        ///   - url: The connection string or URL of the database, in libpq's format.
        ///   - name: The name of the stream. It must be the same in all processes.
        ///   - tenant: Separates the data of several apps in one database; the first column of all keys. The default is
        ///     `default`.
        ///   - maximumCount: The maximum number of stored events, at least 1. The default is 100,000.
        ///   - maximumByteCount: The maximum size of the events: the bytes of their texts, plus 64 bytes per event.
        ///     Beyond it, the oldest events are removed, but never the last one. Each process counts after it has
        ///     stored a sixteenth of the limit, so each process may exceed the limit by a sixteenth. The default is 1
        ///     GiB.
        /// - Throws: ``PostgreSQLError``.
        public init(
            at url: String, name: String, tenant: String = "default", maximumCount: Int = 100_000,
            maximumByteCount: Int = 1 << 30
        ) async throws {
            (self.url, self.tenant, self.name) = (url, tenant, name)
            self.maximumCount = max(1, maximumCount)
            self.maximumByteCount = max(0, maximumByteCount)
            // The size of the table is not known yet, so the first events trigger a count.
            uncounted = Mutex(self.maximumByteCount / 16)
            reader = PostgreSQLPool(url, connectionCount: 1)
            presenceReader = PostgreSQLPool(url, connectionCount: 1)
            writer = PostgreSQLPool(url, connectionCount: 1)
            channel = PostgreSQLListener.channel(tenant, name)
            try await writer.create(EventLogStatements.tables + PresenceStatements.tables)
            try await writer.transaction(for: name) { connection throws(PostgreSQLError) in
                _ = try connection.run(EventLogStatements.begin, [tenant, name, EventLogRange.newEpoch()])
            }
        }

        /// Begins a new epoch in all logs of a tenant. Call it after its database was restored from a backup: clients
        /// then receive a reset. Otherwise, they would miss events that are published under the offsets of lost events.
        ///
        /// Call the function once after the restore, before servers start: an open hub continues with the old epoch.
        ///
        /// - Returns: The new epoch.
        /// - Throws: ``PostgreSQLError``.
        @discardableResult
        public static func beginEpoch(at url: String, tenant: String = "default") async throws -> String {
            let pool = PostgreSQLPool(url, connectionCount: 1)
            try await pool.create(EventLogStatements.tables)
            let epoch = EventLogRange.newEpoch()
            try await pool.transaction(for: "") { connection throws(PostgreSQLError) in
                _ = try connection.run(EventLogStatements.beginEpoch, [tenant, epoch])
            }
            return epoch
        }

        /// Returns the epoch of the log, and its first and last offset.
        public func range() async throws -> EventLogRange {
            try await reader.transaction(for: name) { [tenant, name] connection throws(PostgreSQLError) in
                try Self.range(connection.run(EventLogStatements.range, [tenant, name]).first)
            }
        }

        /// Stores events with the next offsets. Other processes are notified when the events are committed.
        ///
        /// - Throws: `StoreRefusal.busy` if too many events are pending; ``PostgreSQLError``, for example for a text
        ///   that contains U+0000.
        public func append(_ events: [PublishedEvent]) async throws -> EventLogRange {
            guard !events.isEmpty, let stored = try await store({ _ in events }) else { return try await range() }
            return stored.range
        }

        /// Runs `body` in a transaction, and stores the events that it returns with the next offsets. Other processes
        /// are notified when the events are committed.
        ///
        /// - Returns: The new range of the log and the number of events; `nil` if `body` returned no events.
        func store(
            _ body: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLError) -> [PublishedEvent]
        ) async throws -> (range: EventLogRange, count: Int)? {
            let stored = try await writer.transaction(for: name) {
                [self] connection throws(PostgreSQLError) -> (range: EventLogRange, count: Int, isCounted: Bool)? in
                let events = try body(connection)
                if events.isEmpty { return nil }
                let isDue = uncounted.withLock { count in
                    count += events.reduce(0) { $0 + Self.cost(of: $1) }
                    return count >= maximumByteCount / 16
                }
                let key = [tenant, name]
                var range = try Self.range(
                    connection.run(EventLogStatements.advance, key + ["\(events.count)"]).first)
                var parameters: [String?] = key
                for (index, event) in events.enumerated() {
                    let number = range.last - Int64(events.count - 1 - index)
                    parameters += ["\(number)", event.topic, event.type, event.data]
                }
                try connection.run(EventLogStatements.insertion(of: events.count), parameters)
                if range.last - range.first >= Int64(maximumCount + maximumCount / 10) {
                    try Self.remove(before: range.last - Int64(maximumCount) + 1, of: &range, key, connection)
                }
                // Removes a tenth of the events at a time, since events differ in size.
                while isDue, range.first < range.last, try Self.byteCount(key, connection) > maximumByteCount {
                    let tenth = max(1, (range.last - range.first) / 10)
                    try Self.remove(before: range.first + tenth, of: &range, key, connection)
                }
                try connection.run(EventLogStatements.notify, [channel, ""])
                return (range, events.count, isDue)
            }
            if let stored, stored.isCounted { uncounted.withLock { $0 = 0 } }
            return stored.map { ($0.range, $0.count) }
        }

        private static func cost(of event: PublishedEvent) -> Int {
            event.topic.utf8.count + event.type.utf8.count + event.data.utf8.count + EventLogStatements.costOfEvent
        }

        private static func byteCount(
            _ key: [String?], _ connection: PostgreSQLConnection
        ) throws(PostgreSQLError) -> Int {
            try connection.run(EventLogStatements.byteCount, key).first?[0].flatMap { Int($0) } ?? 0
        }

        private static func remove(
            before first: Int64, of range: inout EventLogRange, _ key: [String?], _ connection: PostgreSQLConnection
        ) throws(PostgreSQLError) {
            range.first = first
            try connection.run(EventLogStatements.remove, key + ["\(first)"])
            try connection.run(EventLogStatements.moveFirst, key + ["\(first)"])
        }

        /// Returns the events after an offset. The page ends before a gap in the offsets.
        public func events(
            after offset: Int64, upTo maximumCount: Int
        ) async throws -> (first: Int64, events: [PublishedEvent]) {
            let rows = try await reader.transaction(for: name) { [tenant, name] connection throws(PostgreSQLError) in
                try connection.run(
                    EventLogStatements.events,
                    [tenant, name, "\(offset)", "\(maximumCount)", "\(EventHub.maximumReadByteCount)"])
            }
            let first = rows.first?[0].flatMap { Int64($0) } ?? offset + 1
            let consecutive = zip(first..., rows).prefix { $1[0].flatMap { Int64($0) } == $0 }
            let events = consecutive.map { PublishedEvent(topic: $1[1] ?? "", type: $1[2] ?? "", data: $1[3] ?? "") }
            return (first, events)
        }

        /// Sends a text to all listening processes. Delivery is not guaranteed.
        public func signal(_ text: String) async throws {
            try await writer.transaction(for: name) { [channel] connection throws(PostgreSQLError) in
                _ = try connection.run(EventLogStatements.notify, [channel, text])
            }
        }

        /// Returns texts sent by ``signal(_:)``. Listens over a separate connection until the sequence is released.
        public func signals() -> AsyncStream<String> { PostgreSQLListener.signals(of: channel, at: url) }

        private static func range(_ row: [String?]?) throws(PostgreSQLError) -> EventLogRange {
            guard let row, let epoch = row[0], let first = row[1].flatMap({ Int64($0) }),
                let last = row[2].flatMap({ Int64($0) })
            else { throw PostgreSQLError(state: "P0002", "The log of events is missing in the database.") }
            return EventLogRange(epoch: epoch, first: first, last: last)
        }
    }
#endif
