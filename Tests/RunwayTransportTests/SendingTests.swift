import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// What a failure says of whether any of the request left, and so of whether it may be sent again.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct SendingTests {
    @Test func refusedConnectionTookNothing() async throws {
        let port = try RefusingPort()
        let error = try await NetworkLayer(to: "http://127.0.0.1:\(port.number)").failure(of: Fetch<POST>("a"))
        #expect(error.kind == .noNetwork && error.sending == .notSent)
    }

    @Test func nameThatNobodyKnowsTookNothing() async throws {
        let error = try await NetworkLayer(to: "https://nobody.invalid").failure(of: Fetch<POST>("a"))
        #expect(error.kind == .noNetwork && error.sending == .notSent)
    }

    @Test func failedHandshakeSentNothing() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<POST>("a", .bytes([1])))
            #expect(error.kind == .notTrusted && error.sending == .notSent)
            #expect(origin.requestCount == 0)
        }
    }

    @Test(.except(.urlSession, "it has no time-out for connecting"))
    func handshakeThatTakesTooLongTookNothing() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            origin.onConnections([.ignore])
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(connectTimeout: .milliseconds(200)))
            let error = try await network.failure(of: Fetch<POST>("a"))
            #expect(error.kind == .timedOut && error.sending == .notSent)
        }
    }

    @Test(.except(.urlSession, "it counts waits for a connection as silence"))
    func callWithoutAConnectionSentNothing() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            let (network, held, _) = try await origin.occupyOnlyConnection(until: gate)
            // Of the two transports one ends the wait by itself, long before the deadline; the other at the deadline.
            let endsByItself = TransportUnderTest.current == .asyncHTTPClient
            network.configure(TestService.self) { $0.deadline = endsByItself ? .seconds(600) : .milliseconds(500) }
            let error = try await network.failure(of: Fetch<POST>("a"))
            #expect(error.kind == .timedOut)
            // Where the call's own deadline ends the wait it says nothing of the wire.
            if endsByItself { #expect(error.sending == .notSent) }
            #expect(!origin.requests.contains { $0.path == "/a" })
            gate.open()
            _ = try await held.value
        }
    }

    @Test(arguments: [ScriptedResponse.closing, .resetting, .text("short").declaring(length: 99)])
    func requestOnALostConnectionMayHaveArrived(_ response: ScriptedResponse) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: response)
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<POST>("a", .bytes([1])))
            #expect(error.sending != .notSent)
            #expect(origin.requestCount == 1)
        }
    }

    @Test func responseMeansThatTheRequestWasSent() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("no", status: .notFound))
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<POST>("a"))
            #expect(error.sending == .sent)
        }
    }

    @Test func endpointLosingItsConnectionsLeavesTheHostReachable() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/crash", respond: .closing)
            origin.on("/fine", respond: .text("fine"))
            // The circuit opens for a second, which a busy machine may take for a call. So time stands still.
            let network = NetworkLayer(transport: try TransportUnderTest.make(), clock: LayerClock(ManualClock()))
            network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
            for _ in 0..<5 {
                let error = try await network.failure(of: Fetch<POST>("crash", .bytes([1])))
                #expect(error.kind == .noNetwork && error.sending != .notSent)
            }
            #expect(try await network.failure(of: Fetch<POST>("crash", .bytes([1]))).kind == .unavailable)
            #expect(try await network.call(Fetch<GET>("fine")).text == "fine")
        }
    }

    /// A layer that tries again, without a wait.
    private func patient(_ origin: ScriptedOrigin) throws -> NetworkLayer {
        let network = NetworkLayer(transport: try TransportUnderTest.make())
        network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    private let atOnce = CallOptions(retry: RetryPolicy(baseWait: .zero))

    @Test func readIsRetriedUntilItCompletes() async throws {
        try await withScriptedOrigin { origin in
            let busy = ScriptedResponse.text("busy", status: .serviceUnavailable).header(.retryAfter, "0")
            origin.on("/a", respond: [.resetting, busy, .text("done")])
            let network = try patient(origin)
            #expect(try await network.call(Fetch<GET>("a"), options: atOnce).text == "done")
            #expect(origin.requestCount == 3)
        }
    }

    @Test func changeThatMayHaveArrivedIsSentOnce() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .resetting)
            let network = try patient(origin)
            await #expect(throws: NetworkError.self) {
                try await network.call(Fetch<POST>("a", .bytes([1])), options: atOnce)
            }
            #expect(origin.requestCount == 1)
        }
    }
}
