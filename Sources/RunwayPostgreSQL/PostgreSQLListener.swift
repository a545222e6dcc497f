#if PostgreSQL
    import Foundation
    import RunwayLibPQ
    import Synchronization

    /// Waits for the notifications of a channel, on a connection and a thread of its own.
    ///
    /// The listener yields the text of every notification, and an empty text whenever notifications may have been
    /// missed: after it has connected, and every two seconds. It reconnects after a lost connection.
    enum PostgreSQLListener {
        /// Returns the channel of a stream: a name of PostgreSQL, which has at most 63 bytes.
        static func channel(_ tenant: String, _ name: String) -> String {
            // FNV-1a, since a hash value of Swift differs from process to process.
            let hash = (tenant + "\u{0}" + name).utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01b3
            }
            return "runway_events_" + String(hash, radix: 16)
        }

        static func signals(of channel: String, at url: String) -> AsyncStream<String> {
            let isOver = Flag()
            let (signals, continuation) = AsyncStream.makeStream(
                of: String.self, bufferingPolicy: .bufferingNewest(1024))
            continuation.onTermination = { _ in isOver.set() }
            let thread = Thread {
                while !isOver.isSet {
                    do throws(PostgreSQLError) {
                        let connection = try PostgreSQLConnection(to: url)
                        try connection.run("LISTEN \(channel)")
                        while !isOver.isSet, connection.isOpen {
                            continuation.yield("")
                            // One wait is short, so that the end of the sequence is noticed.
                            for _ in 0..<4 where !isOver.isSet {
                                for text in connection.notifications(within: .milliseconds(500)) {
                                    continuation.yield(text)
                                }
                            }
                        }
                    } catch {
                        continuation.yield("")
                        usleep(1_000_000)
                    }
                }
            }
            thread.name = "runway.postgresql.listener"
            thread.start()
            return signals
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    extension PostgreSQLConnection {
        /// Whether the connection has not been lost, as far as is known.
        var isOpen: Bool { PQstatus(connection) == CONNECTION_OK }

        /// Waits for notifications, and returns their texts. It blocks.
        func notifications(within limit: Duration) -> [String] {
            var descriptor = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, Int32(limit / .milliseconds(1)))
            PQconsumeInput(connection)
            var texts: [String] = []
            while let notification = PQnotifies(connection) {
                texts.append(notification.pointee.extra.map { String(cString: $0) } ?? "")
                PQfreemem(notification)
            }
            return texts
        }
    }
#endif
