#if PostgreSQL
    import Foundation
    import RunwayServer
    import Synchronization

    /// A few connections. Each has a thread that may block, and a queue of transactions.
    final class PostgreSQLPool: Sendable {
        /// The maximum number of pending transactions; further ones are refused.
        private static let maximumWaitingCount = 1024

        private let lanes: [(lane: PostgreSQLLane, queue: DispatchQueue)]
        private let waitingCount = Atomic(0)

        init(_ url: String, connectionCount: Int) {
            lanes = (0..<max(1, connectionCount)).map {
                (PostgreSQLLane(url), DispatchQueue(label: "runway.postgresql.pool.\($0)"))
            }
        }

        /// Runs a transaction on the connection that `key` selects, and retries if it conflicts with another one.
        ///
        /// - Throws: `StoreRefusal.busy` if too many transactions are pending, ``PostgreSQLError``.
        func transaction<Value: Sendable>(
            for key: String,
            _ body: @escaping @Sendable (PostgreSQLConnection) throws(PostgreSQLError) -> Value
        ) async throws -> Value {
            let waiting = waitingCount.wrappingAdd(1, ordering: .relaxed).newValue
            defer { waitingCount.wrappingSubtract(1, ordering: .relaxed) }
            guard waiting <= Self.maximumWaitingCount else { throw StoreRefusal.busy }
            let (lane, queue) = lanes[Int(UInt(bitPattern: key.hashValue) % UInt(lanes.count))]
            return try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try lane.transaction(body) }) }
            }
        }

        /// Creates tables. If two servers start at the same time, both may find the tables absent.
        func create(_ statements: [String]) async throws {
            for statement in statements {
                do {
                    try await transaction(for: "") { connection throws(PostgreSQLError) in
                        _ = try connection.run(statement)
                    }
                } catch let error as PostgreSQLError {
                    // Another server has just created the table or index; a unique violation in the catalogue means the
                    // same.
                    guard ["23505", "42P07", "42710"].contains(error.state) else { throw error }
                }
            }
        }
    }
#endif
