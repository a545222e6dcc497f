import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

/// What goes wrong over a session ends in one clear error, in time.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionFailureTests {
    /// On Linux an answer that is cut in its head ends the process, inside Foundation.
    static let truncated = MisbehaviourTests.truncated.filter { $0.0 != "cut in the head" }

    @Test(arguments: truncated.indices)
    func truncatedAnswersNeverSucceed(index: Int) async throws {
        let (name, response) = Self.truncated[index]
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: response)
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.kind == .noNetwork || error.kind == .invalidResponse, "\(name): \(error)")
            #expect(error.step == .transporting)
            #expect(error.sending != .notSent)
            #expect(error.detail.contains("127.0.0.1:"), "\(name): \(error.detail)")
            #expect(error.underlying != nil)
        }
    }

    @Test func unaskedSwitchOfProtocolsIsNoResponse() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: MisbehaviourTests.switched)
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.kind == .invalidResponse && error.step == .transporting, "\(error)")
        }
    }

    @Test func aRefusedConnectionFailsAtOnceAndTookNothing() async throws {
        let port = try DeafPort()
        let error = try await NetworkLayer(overURLSessionTo: "http://127.0.0.1:\(port.number)").failure(
            of: Fetch<POST>("a"))
        #expect(error.kind == .noNetwork && error.sending == .notSent)
    }

    @Test func aNameThatNobodyKnowsFailsAsNoNetwork() async throws {
        let error = try await NetworkLayer(overURLSessionTo: "https://nobody.invalid").failure(of: Fetch<GET>("a"))
        #expect(error.kind == .noNetwork && error.sending == .notSent)
        #expect(error.detail.contains("its name could not be looked up"))
    }

    @Test func aCertificateThatIsNotTrustedGetsNoRequest() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(
                of: Fetch<POST>("a", .bytes([1]), headers: ["Authorization": "secret"]))
            #expect(error.kind == .notTrusted && error.sending == .notSent)
            #expect(!error.description.contains("secret"))
            #expect(origin.requestCount == 0)
        }
    }

    @Test func aSilentServerFailsWithinTheIdleTimeout() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .never)
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL, .init(idleTimeout: .seconds(1)))
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .timedOut && error.step == .transporting)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func theDeadlineOfACallEndsTheWaitAndTheWorkOnTheSocket() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .never)
            let clock = ManualClock()
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL, clock: LayerClock(clock))
            let call = Task { try await network.call(Fetch<GET>("a")) }
            try await origin.waitForRequests(count: 1)
            try await clock.waitForSleepers()
            clock.advance(by: TestService.deadline)
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .timedOut && error.step == .stage(.deadline))
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func aCancelledCallClosesItsConnection() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            let call = Task { try await network.call(Fetch<GET>("a")) }
            try await gate.waitForArrivals()
            call.cancel()
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .cancelled)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func aStreamThatIsLetGoClosesItsConnection() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            do {
                let answer = try await network.stream(Fetch<GET>("a"))
                var parts = answer.body.makeAsyncIterator()
                #expect(try await parts.next() == Array("one".utf8))
            }
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func aReaderOfAStreamThatIsCancelledGetsAnErrorAndNotTheEnd() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            let answer = try await NetworkLayer(overURLSessionTo: origin.baseURL).stream(Fetch<GET>("a"))
            let read = ScriptedGate()
            read.open()
            let reader = Task {
                for try await _ in answer.body { try await read.pass() }
            }
            try await read.waitForArrivals()
            reader.cancel()
            let error = try await #require(throws: NetworkError.self) { try await reader.value }
            #expect(error.kind == .cancelled)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func aCancelledCallStopsReadingItsBodyEvenWhileItWaitsForAPart() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("late"))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            let asked = ScriptedGate()
            let lifetime = Lifetime()
            let ended = lifetime.ended
            let call = Self.callWithASilentBody(over: network, asked: asked, lifetime)
            try await asked.waitForArrivals()
            call.cancel()
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .cancelled)
            asked.open()
            _ = ended
        }
    }

    private static func callWithASilentBody(
        over network: NetworkLayer, asked: ScriptedGate, _ lifetime: Lifetime
    ) -> Task<RawData, any Error> {
        let body = BodyStream {
            {
                try await asked.pass()
                return withExtendedLifetime(lifetime) { [1] }
            }
        }
        return Task {
            try await network.call(Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: false)))
        }
    }

    @Test func callsAndCancellationsInDroves() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/held", respond: .text("late").held(by: gate))
            origin.on("/free", respond: .text("free"))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        let isHeld = index.isMultiple(of: 2)
                        let call = Task { try await network.call(Fetch<GET>(isHeld ? "held" : "free")) }
                        if isHeld { call.cancel() }
                        switch await call.result {
                        case .success(let raw): #expect(raw.text == "free")
                        case .failure(let error): #expect((error as? NetworkError)?.kind == .cancelled)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await network.call(Fetch<GET>("free")).text == "free")
        }
    }
}
