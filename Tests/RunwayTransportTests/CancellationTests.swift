import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// A cancelled call stops its work on the socket.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct CancellationTests {
    @Test func cancelledWaitForAResponseClosesTheConnection() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .text("late").held(by: gate))
            let network = try NetworkLayer(to: origin.baseURL)
            let call = Task { try await network.call(Fetch<GET>("a")) }
            try await gate.waitForArrivals()
            call.cancel()
            try await expectCancelled(call)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func cancellingDuringTheResponseClosesTheConnection() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let network = try NetworkLayer(to: origin.baseURL)
            let call = Task { try await network.call(Fetch<GET>("a")) }
            try await gate.waitForArrivals()
            call.cancel()
            try await expectCancelled(call)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func callCancelledBeforeItStartsSendsNoRequest() async throws {
        try await withScriptedOrigin { origin in
            let network = try NetworkLayer(to: origin.baseURL)
            let gate = ScriptedGate()
            let call = Task {
                try? await gate.pass()
                return try await network.call(Fetch<GET>("a"))
            }
            call.cancel()
            try await expectCancelled(call)
            #expect(origin.requestCount == 0)
        }
    }

    @Test func aCancelledStreamReaderGetsAnError() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let network = try NetworkLayer(to: origin.baseURL)
            let response = try await network.stream(Fetch<GET>("a"))
            let read = ScriptedGate()
            read.open()
            let reader = Task {
                // What is asked about is the stream, and not the gate, which throws by itself when it is passed too late.
                for try await _ in response.body { try? await read.pass() }
            }
            try await read.waitForArrivals()
            reader.cancel()
            let error = try await #require(throws: NetworkError.self) { try await reader.value }
            #expect(error.kind == .cancelled)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test(.exceptSessionOnLinux("it reads a streamed body whole before it sends it"))
    func callThatSendsAStreamStopsReadingIt() async throws {
        try await withScriptedOrigin(limits: .init(bodyBytes: 0)) { origin in
            let gate = ScriptedGate()
            origin.on("/a", responding: .afterHead, respond: .text("late").held(by: gate))
            let network = try NetworkLayer(to: origin.baseURL)
            let produced = ScriptedGate()
            produced.open()
            let (call, released) = Self.uploadWithoutEnd(over: network, countedBy: produced)
            try await gate.waitForArrivals()
            try await produced.waitForArrivals(count: 20)
            call.cancel()
            try await expectCancelled(call)
            try await origin.waitForDisconnects(count: 1)
            // The stream is released, too: nothing goes on producing what nobody sends.
            for await _ in released {}
        }
    }

    /// Starts a call whose body has no end; returns it and a stream that finishes when the body is released.
    private static func uploadWithoutEnd(
        over network: NetworkLayer, countedBy produced: ScriptedGate
    ) -> (call: Task<RawData, any Error>, released: AsyncStream<Void>) {
        let lifetime = Lifetime()
        let body = BodyStream {
            {
                try await produced.pass()
                return withExtendedLifetime(lifetime) { [UInt8](repeating: 1, count: 1 << 16) }
            }
        }
        let call = Task<RawData, any Error> {
            try await network.call(Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: false)))
        }
        return (call, lifetime.ended)
    }

    @Test func cancellationsInDroves() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/held", respond: .text("late").held(by: gate))
            origin.on("/free", respond: .text("free"))
            let network = try NetworkLayer(to: origin.baseURL)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        let call = Task {
                            try await network.call(Fetch<GET>(index.isMultiple(of: 2) ? "held" : "free"))
                        }
                        if index.isMultiple(of: 2) { call.cancel() }
                        if case .failure(let error as NetworkError) = await call.result {
                            #expect(error.kind == .cancelled)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await network.call(Fetch<GET>("free")).text == "free")
        }
    }

    private func expectCancelled(
        _ call: Task<RawData, any Error>, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) {
            try await call.value
        }
        #expect(error.kind == .cancelled, sourceLocation: sourceLocation)
    }
}
