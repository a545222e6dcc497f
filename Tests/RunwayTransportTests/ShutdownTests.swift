import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// A transport ends as its owner wants it to, and never traps.
@Suite(
    .timeLimit(.minutes(10)), .overEveryTransport,
    .except(.urlSession, "it can't be shut down"))
struct ShutdownTests {
    /// An origin that holds the responses to `/held`, a transport, and a call of it that waits there.
    private func withHeldCall(
        _ body: (ScriptedOrigin, ScriptedGate, any EndingTransport, NetworkLayer, Task<RawData, any Error>)
            async throws
            -> Void
    ) async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/held", respond: .text("held").held(by: gate))
            origin.on("/free", respond: .text("free"))
            let transport = try TransportUnderTest.makeEnding()
            let network = NetworkLayer(to: origin.baseURL, over: transport)
            let call = Task { try await network.call(Fetch<GET>("held")) }
            try await gate.waitForArrivals()
            try await body(origin, gate, transport, network, call)
        }
    }

    /// Returns when the transport takes no further request.
    private func waitUntilRefusing(_ network: NetworkLayer) async throws -> NetworkError {
        var refusal: NetworkError?
        try await waitUntil("the transport to refuse") {
            do throws(NetworkError) { _ = try await network.call(Fetch<GET>("free")) } catch { refusal = error }
            return refusal != nil
        }
        return try #require(refusal)
    }

    @Test func waitingLetsCallsEndAndRefusesNewOnes() async throws {
        try await withHeldCall { origin, gate, transport, network, call in
            async let shutdown: Void = transport.shutdown(waitingAtMost: .seconds(300))
            let error = try await waitUntilRefusing(network)
            #expect(error.kind == .noNetwork)
            #expect(error.detail == "The transport was shut down.")
            gate.open()
            #expect(try await call.value.text == "held")
            await shutdown
            try await origin.waitForDisconnects(count: origin.connectionCount)
        }
    }

    @Test func overflowingLimitDoesNotEndTheShutdown() async throws {
        let gauge = RequestGauge()
        #expect(gauge.begin())
        let isOver = Mutex(false)
        let shutdown = Task {
            await gauge.close(waitingAtMost: .seconds(Int64.max))
            isOver.withLock { $0 = true }
        }
        try await waitUntil("the gauge to refuse requests") {
            let isCounted = gauge.begin()
            if isCounted { gauge.end() }
            return !isCounted
        }
        // One that begins later and has a limit ends first.
        await gauge.close(waitingAtMost: .milliseconds(1))
        #expect(!isOver.withLock { $0 })
        gauge.end()
        await shutdown.value
    }

    @Test func cancelledShutdownEndsNoOthersWait() async {
        let gauge = RequestGauge()
        #expect(gauge.begin())
        let end = ScriptedGate()
        let patient = Task {
            await gauge.close(waitingAtMost: .seconds(600))
            end.open()
        }
        let hasty = Task { await gauge.close(waitingAtMost: .seconds(600)) }
        hasty.cancel()
        await hasty.value
        #expect(!end.isOpen)
        gauge.end()
        await patient.value
    }

    @Test func waitingEndsWhenItsTimeIsUp() async throws {
        try await withHeldCall { origin, _, transport, _, call in
            await transport.shutdown(waitingAtMost: .milliseconds(50))
            try await expectCut(call)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func cuttingEndsRunningCallsAtOnce() async throws {
        try await withHeldCall { origin, _, transport, _, call in
            await transport.shutdown(waitingAtMost: .zero)
            try await expectCut(call)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func cuttingEndsAStreamWithAnError() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let transport = try TransportUnderTest.makeEnding()
            let network = NetworkLayer(to: origin.baseURL, over: transport)
            let response = try await network.stream(Fetch<GET>("a"))
            await transport.shutdown(waitingAtMost: .zero)
            let error = try await response.body.failure()
            #expect(error.kind == .noNetwork)
            #expect(error.detail == "The transport was shut down.")
        }
    }

    @Test func waitingWaitsForStreamsToo() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            origin.on("/free", respond: .text("free"))
            let transport = try TransportUnderTest.makeEnding()
            let network = NetworkLayer(to: origin.baseURL, over: transport)
            let response = try await network.stream(Fetch<GET>("a"))
            let reader = Task { try await response.body.text() }
            let shutdown = Task { await transport.shutdown(waitingAtMost: .seconds(300)) }
            _ = try await waitUntilRefusing(network)
            gate.open()
            #expect(try await reader.value == "onetwo")
            _ = consume response
            await shutdown.value
        }
    }

    @Test func shutdownWhoseTaskIsCancelledWaitsNoLonger() async throws {
        try await withHeldCall { origin, _, transport, network, call in
            let shutdown = Task { await transport.shutdown(waitingAtMost: .seconds(3600)) }
            _ = try await waitUntilRefusing(network)
            shutdown.cancel()
            await shutdown.value
            try await expectCut(call)
        }
    }

    @Test func aSecondShutdownHasNoEffect() async throws {
        let transport = try TransportUnderTest.makeEnding()
        await transport.shutdown()
        await transport.shutdown(waitingAtMost: .zero)
        await transport.shutdown(waitingAtMost: .zero)
        async let first: Void = transport.shutdown()
        async let second: Void = transport.shutdown()
        _ = await (first, second)
        let error = try await NetworkLayer(to: "http://127.0.0.1:9", over: transport).failure(of: Fetch<GET>("a"))
        #expect(error.kind == .noNetwork)
        #expect(error.detail == "The transport was shut down.")
    }

    @Test func anUnusedTransportIsReleased() async throws {
        for _ in 0..<20 {
            weak var released: (any EndingTransport)?
            do {
                let transport = try TransportUnderTest.makeEnding()
                released = transport
            }
            try await waitUntil("the transport to be released") { released == nil }
        }
    }

    @Test func aForgottenTransportClosesItsConnections() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            for count in 1...10 {
                _ = try await NetworkLayer(to: origin.baseURL).call(Fetch<GET>("a"))
                try await origin.waitForDisconnects(count: count)
            }
        }
    }

    @Test func releasedLayerCompletesItsCalls() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.otherwise(respond: .text("held").held(by: gate))
            let call = Task { [baseURL = origin.baseURL] in
                try await NetworkLayer(to: baseURL).call(Fetch<GET>("a"))
            }
            try await gate.waitForArrivals()
            gate.open()
            #expect(try await call.value.text == "held")
        }
    }

    @Test func manyShortLivedTransportsLeaveNothingOpen() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/held", respond: .text("late").held(by: gate))
            origin.on("/free", respond: .text("free"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<60 {
                    group.addTask { [baseURL = origin.baseURL] in
                        let transport = try TransportUnderTest.makeEnding()
                        let network = NetworkLayer(to: baseURL, over: transport)
                        let isFree = index.isMultiple(of: 3)
                        let call: Task<RawData, any Error> = Task {
                            try await network.call(Fetch<GET>(isFree ? "free" : "held"))
                        }
                        let isCut = index.isMultiple(of: 2)
                        if isCut { await transport.shutdown(waitingAtMost: .zero) } else { call.cancel() }
                        let expected: NetworkError.Kind = isCut ? .noNetwork : .cancelled
                        switch await call.result {
                        case .success(let response): #expect(isFree && response.text == "free")
                        case .failure(let error): #expect((error as? NetworkError)?.kind == expected)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await origin.waitForDisconnects(count: origin.connectionCount)
        }
    }

    private func expectCut(
        _ call: Task<RawData, any Error>, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) {
            try await call.value
        }
        #expect(error.kind == .noNetwork, sourceLocation: sourceLocation)
        #expect(error.detail == "The transport was shut down.", sourceLocation: sourceLocation)
    }
}
