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

    /// Runs a test with a short idle time-out. It returns `false` if not even the head of a response came in time, as on a machine that
    /// stood still: then it runs again with a longer one.
    private func withIdleTimeout(_ body: (RawHTTP2Server, Duration) async throws -> Bool) async throws {
        for idleTimeout in [Duration.seconds(6), .seconds(60), .seconds(200)] {
            var isOver = false
            try await RawHTTP2Server.run(Self.beginning) { isOver = try await body($0, idleTimeout) }
            if isOver { return }
        }
        Issue.record("No head came in time.")
    }

    @Test func stalledBodyFailsWithinTheIdleTimeout() async throws {
        try await withIdleTimeout { server, idleTimeout in
            let network = try server.layer(idleTimeout: idleTimeout)
            guard let response = try? await network.stream(Fetch<GET>("a")) else { return false }
            let error = try await response.body.failure()
            #expect(error.kind == .timedOut && error.detail.contains("silent"), "\(error)")
            await server.wait(for: .reset)
            #expect(server.endCount == 0)
            return true
        }
    }

    @Test func slowReaderIsNoSilentServer() async throws {
        try await withIdleTimeout { server, idleTimeout in
            var wire = WireSettings()
            wire.pingInterval = .milliseconds(400)
            wire.pingTimeout = .seconds(300)
            let network = try server.layer(wire, idleTimeout: idleTimeout)
            guard let response = try? await network.stream(Fetch<GET>("a")) else { return false }
            // With 400 ms and more between two of them these take longer than a server may be silent.
            await server.wait(for: .ping, count: Int(idleTimeout / .milliseconds(400)) + 1)
            #expect(!server.frames().contains { $0.is(.reset) })
            let error = try await response.body.failure()
            #expect(error.kind == .timedOut, "\(error)")
            return true
        }
    }

    @Test func openStreamsAloneCauseNoPings() async throws {
        try await withIdleTimeout { server, idleTimeout in
            var wire = WireSettings()
            wire.pingInterval = .milliseconds(100)
            wire.pingTimeout = .seconds(300)
            let network = try server.layer(wire, idleTimeout: idleTimeout)
            var options = CallOptions()
            options.isLongLived = true
            guard let stream = try? await network.stream(Fetch<GET>("a"), options: options) else { return false }
            let pingCount = server.frames().count { $0.is(.ping) }
            // The silence would bring about ten a second.
            _ = try await stream.body.failure()
            #expect(server.frames().count { $0.is(.ping) } <= pingCount + 1, "one may have been on its way")
            guard let another = try? await network.stream(Fetch<GET>("b"), options: options),
                let call = try? await network.stream(Fetch<GET>("c"))
            else { return false }
            await server.wait(for: .ping, count: pingCount + 3)
            withExtendedLifetime((another, call)) {}
            return true
        }
    }
}
