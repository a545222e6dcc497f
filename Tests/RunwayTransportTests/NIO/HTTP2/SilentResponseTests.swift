import Runway
import RunwayTransport
import Testing

/// Streamed responses over HTTP/2 that stop: whose silence it is.
@Suite(.timeLimit(.minutes(10)))
struct SilentResponseTests {
    /// Sends the head of every response and the beginning of its body, and acknowledges every PING.
    private static let beginning: RawHTTP2Server.Script = { connection, frame in
        guard let frame else { return connection.write(.settings(), .settingsAck) }
        if frame.is(.headers) {
            connection.write(.headers(frame.stream), .data(frame.stream, "beginning", isLast: false))
        } else if frame.is(.ping), frame.flags & RawFrame.ack == 0 {
            connection.write(RawFrame(.ping, flags: RawFrame.ack, frame.payload))
        }
    }

    @Test func stalledBodyFailsWithinTheIdleTimeout() async throws {
        try await RawHTTP2Server.run(Self.beginning) { server in
            // Long enough for the head to come in time on a busy machine.
            let network = try server.layer(idleTimeout: .seconds(10))
            let response = try await network.stream(Fetch<GET>("a"))
            let error = try await response.body.failure()
            #expect(error.kind == .timedOut && error.detail.contains("silent"), "\(error)")
            await server.wait(for: .reset)
            #expect(server.endCount == 0)
        }
    }

    @Test func slowReaderIsNoSilentServer() async throws {
        try await RawHTTP2Server.run(Self.beginning) { server in
            var wire = WireSettings()
            wire.pingInterval = .milliseconds(400)
            wire.pingTimeout = .seconds(60)
            let network = try server.layer(wire, idleTimeout: .seconds(10))
            let response = try await network.stream(Fetch<GET>("a"))
            // With 400 ms and more between two of them these take longer than a server may be silent.
            await server.wait(for: .ping, count: 26)
            #expect(!server.frames().contains { $0.is(.reset) })
            let error = try await response.body.failure()
            #expect(error.kind == .timedOut, "\(error)")
        }
    }

    @Test func openStreamsAloneCauseNoPings() async throws {
        try await RawHTTP2Server.run(Self.beginning) { server in
            var wire = WireSettings()
            wire.pingInterval = .milliseconds(100)
            // Long enough for the heads to come in time on a busy machine.
            let network = try server.layer(wire, idleTimeout: .seconds(10))
            var options = CallOptions()
            options.isLongLived = true
            let stream = try await network.stream(Fetch<GET>("a"), options: options)
            let pingCount = server.frames().count { $0.is(.ping) }
            // The silence of ten seconds would bring about a hundred.
            _ = try await stream.body.failure()
            #expect(server.frames().count { $0.is(.ping) } <= pingCount + 1, "one may have been on its way")
            let another = try await network.stream(Fetch<GET>("b"), options: options)
            let call = try await network.stream(Fetch<GET>("c"))
            await server.wait(for: .ping, count: pingCount + 3)
            withExtendedLifetime((another, call)) {}
        }
    }
}
