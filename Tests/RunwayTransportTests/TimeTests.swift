import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Every wait ends.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct TimeTests {
    @Test func deadlineEndsTheWorkOnTheSocket() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .never)
            let clock = ManualClock()
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock))
            let call = Task { try await network.call(Fetch<GET>("a")) }
            try await origin.waitForRequests(count: 1)
            try await clock.waitForSleepers()
            clock.advance(by: TestService.deadline)
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .timedOut)
            #expect(error.step == .deadline)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func theDeadlineCoversABodyThatDrips() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let clock = ManualClock()
            let network = try NetworkLayer(to: origin.baseURL, clock: LayerClock(clock))
            let call = Task { try await network.call(Fetch<GET>("a")) }
            try await gate.waitForArrivals()
            try await clock.waitForSleepers()
            clock.advance(by: TestService.deadline)
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .timedOut)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func aSilentServerFailsWithinTheIdleTimeout() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .never)
            // On a busy machine the shorter ones pass before the request is at the server.
            for idleTimeout in [Duration.milliseconds(200), .seconds(2), .seconds(20), .seconds(120)] {
                let network = try NetworkLayer(
                    to: origin.baseURL,
                    TransportConfiguration(connectTimeout: .seconds(300), idleTimeout: idleTimeout))
                let error = try await network.failure(of: Fetch<GET>("a"))
                #expect(error.kind == .timedOut)
                #expect(error.step == .transporting)
                if origin.requestCount == 0, idleTimeout < .seconds(120) { continue }
                #expect(error.detail == "127.0.0.1:\(origin.port) was silent for too long.")
                break
            }
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func silentStreamFailsWithinTheIdleTimeout() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            // On a busy machine the shorter one passes before the head comes.
            for idleTimeout in [Duration.seconds(5), .seconds(60)] {
                let network = try NetworkLayer(
                    to: origin.baseURL,
                    TransportConfiguration(connectTimeout: .seconds(300), idleTimeout: idleTimeout))
                guard let response = try? await network.stream(Fetch<GET>("a")) else {
                    #expect(idleTimeout == .seconds(5))
                    continue
                }
                let error = try await response.body.failure()
                #expect(error.kind == .timedOut)
                break
            }
            try await origin.waitForDisconnects(count: origin.connectionCount)
        }
    }

    @Test(.except(.urlSession, "it has no time-out for connecting"))
    func aHangingHandshakeFailsWithinTheConnectTimeout() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            origin.onConnections([.ignore])
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(connectTimeout: .milliseconds(200)))
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .timedOut)
            #expect(error.detail.contains("localhost:\(origin.port)"))
        }
    }

    @Test(.except(.urlSession, "it counts waits for a connection as silence"))
    func waitForAConnectionEndsAtTheDeadline() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .text("free"))
            let (network, held, connectTimeout) = try await origin.occupyOnlyConnection(until: gate)
            // AsyncHTTPClient ends the wait by itself, and must not be overtaken by the deadline.
            let endsByItself = TransportUnderTest.current == .asyncHTTPClient
            let deadline = connectTimeout + .seconds(1)
            network.configure(TestService.self) { $0.deadline = endsByItself ? .seconds(600) : deadline }
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .timedOut)
            switch TransportUnderTest.current {
            case .asyncHTTPClient:
                #expect(error.detail == "No connection to 127.0.0.1:\(origin.port) became free in time.")
            // The time-out for connecting is over by then, but does not limit the wait for a connection.
            case .nio, .urlSession:
                #expect(error.detail == "There was no response within \(deadline.components.seconds) s.")
            }
            gate.open()
            #expect(try await held.value.text == "held")
            #expect(!origin.requests.contains { $0.path == "/a" })
        }
    }
}

extension ScriptedOrigin {
    /// Occupies the only connection of a layer by a call of `/held`, which waits at the gate.
    ///
    /// The time-out for connecting is short. On a machine that stood still for longer the call failed, and a longer one is used.
    func occupyOnlyConnection(
        until gate: ScriptedGate
    ) async throws -> (network: NetworkLayer, held: Task<RawData, any Error>, connectTimeout: Duration) {
        on("/held", respond: .text("held").held(by: gate))
        for connectTimeout in [Duration.seconds(2), .seconds(20), .seconds(200)] {
            let network = try NetworkLayer(
                to: baseURL, TransportConfiguration(connectTimeout: connectTimeout, maximumConnectionsPerOrigin: 1))
            let end = ScriptedGate()
            let held = Task {
                defer { end.open() }
                return try await network.call(Fetch<GET>("held"))
            }
            try await waitUntil("the call to be held or to fail") { gate.arrivalCount > 0 || end.isOpen }
            if !end.isOpen { return (network, held, connectTimeout) }
        }
        throw NetworkError(.timedOut, in: .transporting, "No call was held.")
    }
}
