#if PostgreSQL
    import Foundation
    import RunwayLibPQ
    import Synchronization

    /// Waits for the notifications of a channel, on its own connection and thread.
    ///
    /// The listener yields the text of every notification. It yields an empty text whenever notifications may have been
    /// missed: after connecting, and every two seconds. It reconnects after a lost connection.
    enum PostgreSQLListener {
        /// Returns the channel name of a stream. PostgreSQL limits names to 63 bytes.
        static func channel(_ tenant: String, _ name: String) -> String {
            // FNV-1a is used since Swift's hash values differ between processes.
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
                            // Each wait is short, so that the end of the sequence is noticed soon.
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
        /// Whether libpq considers the connection open.
        var isOpen: Bool { PQstatus(connection) == CONNECTION_OK }

        /// Waits for notifications and returns their texts. It blocks.
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
