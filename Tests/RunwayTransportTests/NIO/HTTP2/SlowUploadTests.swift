import Runway
import RunwayTransport
import Synchronization
import Testing

/// A body in memory that goes over a slow way.
@Suite(.timeLimit(.minutes(10)))
struct SlowUploadTests {
    /// Lets the client send 64 KiB more for every sixth PING, and responds when the body is complete.
    private static func slow() -> RawHTTP2Server.Script {
        let pings = Mutex(0)
        return { connection, frame in
            if let frame, frame.is(.ping), frame.flags & RawFrame.ack == 0 {
                connection.write(RawFrame(.ping, flags: RawFrame.ack, frame.payload))
                let count = pings.withLock { count in
                    count += 1
                    return count
                }
                guard count.isMultiple(of: 6), let stream = connection.streams.first else { return }
                let credit = RawFrame.number(64 << 10)
                connection.write(RawFrame(.windowUpdate, stream: stream, credit), RawFrame(.windowUpdate, credit))
            }
            HTTP2WireTests.honest(connection, frame)
        }
    }

    @Test func slowProgressIsNotSilence() async throws {
        try await RawHTTP2Server.run(Self.slow()) { server in
            var wire = WireSettings()
            wire.pingInterval = .milliseconds(400)
            wire.pingTimeout = .seconds(60)
            // Every bit takes 2.4 seconds, so that nine together take longer than this, and a busy machine may stall for long.
            let network = try server.layer(wire, idleTimeout: .seconds(18))
            let body = [UInt8](repeating: 7, count: 650_000)
            #expect(try await network.call(Fetch<POST>("a", .bytes(body))).text == "response")
        }
    }
}
