#if PostgreSQL
    import Foundation
    import RunwayServer
    import Synchronization

    /// One connection and its transactions, which run one after another. It connects on first use, and again after the
    /// connection was lost.
    final class PostgreSQLLane: Sendable {
        // Only the thread that holds the lock of `slot` uses the connection.
        private struct Slot: @unchecked Sendable {
            var connection: PostgreSQLConnection?
        }

        /// The maximum number of attempts for a transaction that conflicts with other transactions.
        static let maximumAttemptCount = 10

        private let url: String
        /// Guards the connection for a whole transaction. Only threads that may block wait for it.
        private let slot = Mutex(Slot(connection: nil))

        init(_ url: String) { self.url = url }

        /// Runs a transaction, and retries if it conflicts with another one (`40001`, `40P01`). It blocks.
        ///
        /// - Throws: ``PostgreSQLError``. If the connection was lost during the commit, the transaction may
        ///   nevertheless have been committed.
        func transaction<Value>(
            _ body: (PostgreSQLConnection) throws(PostgreSQLError) -> Value
        ) throws(PostgreSQLError) -> Value {
            var attempt = 1
            while true {
                do {
                    return try attemptTransaction(body)
                } catch {
                    guard error.isTransient, attempt < Self.maximumAttemptCount else { throw error }
                    // The jitter prevents two conflicting transactions from conflicting again.
                    usleep(UInt32.random(in: 0...(1000 << UInt32(min(attempt, 6)))))
                    attempt += 1
                }
            }
        }

        private func attemptTransaction<Value>(
            _ body: (PostgreSQLConnection) throws(PostgreSQLError) -> Value
        ) throws(PostgreSQLError) -> Value {
            let result: Result<Value, PostgreSQLError> = slot.withLock { slot in
                do throws(PostgreSQLError) {
                    let connection: PostgreSQLConnection
                    if let open = slot.connection {
                        connection = open
                    } else {
                        connection = try PostgreSQLConnection(to: url)
                    }
                    slot.connection = connection
                    try connection.run("BEGIN")
                    let value = try body(connection)
                    try connection.run("COMMIT")
                    return .success(value)
                } catch {
                    if error.isConnectionLoss {
                        slot.connection = nil
                    } else {
                        do throws(PostgreSQLError) { try slot.connection?.run("ROLLBACK") } catch {
                            slot.connection = nil
                        }
                    }
                    return .failure(error)
                }
            }
            return try result.get()
        }
    }
#endif
