#if PostgreSQL
    import Foundation
    import RunwayServer
    import Synchronization

    /// One connection and the transactions that use it, one after another. It connects when it is first used, and anew
    /// when the connection is lost.
    final class PostgreSQLLane: Sendable {
        /// A connection, which moves from thread to thread.
        // One thread at a time uses it: whoever holds the lock of `slot`.
        private struct Slot: @unchecked Sendable {
            var connection: PostgreSQLConnection?
        }

        /// The most attempts of a transaction that conflicts with others.
        static let maximumAttemptCount = 10

        private let url: String
        /// Guards the connection, for as long as a transaction takes. Only threads that may block wait for it.
        private let slot = Mutex(Slot(connection: nil))

        init(_ url: String) { self.url = url }

        /// Runs a transaction, again if it conflicts with another one (`40001`, `40P01`). It blocks.
        ///
        /// - Throws: ``PostgreSQLError``. If the connection was lost during the commit, the transaction may
        ///   nevertheless be committed.
        func transaction<Value>(
            _ body: (PostgreSQLConnection) throws(PostgreSQLError) -> Value
        ) throws(PostgreSQLError) -> Value {
            var attempt = 1
            while true {
                do {
                    return try attemptTransaction(body)
                } catch {
                    guard error.isTransient, attempt < Self.maximumAttemptCount else { throw error }
                    // With jitter, so that two that conflict do not meet again.
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
