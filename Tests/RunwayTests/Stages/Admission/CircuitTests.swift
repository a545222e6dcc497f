import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Hosts and endpoints that keep failing are not called for a while.
@Suite(.timeLimit(.minutes(10)))
struct CircuitTests {
    private static let unreachable = Result<Response, NetworkError>.lost(.noNetwork, .notSent)

    private let once = CallOptions(retry: .off)

    private func flaky(
        _ results: [Result<Response, NetworkError>], status: SettableNetworkStatus = SettableNetworkStatus()
    ) -> FlakyLayer {
        FlakyLayer(results, status: status, admission: AdmissionLimits())
    }

    /// Makes calls of one attempt each.
    private func fail(_ flaky: FlakyLayer, times: Int) async {
        for _ in 0..<times { _ = await flaky.call(QueryCall(), options: once) }
    }

    @Test(arguments: [unreachable, .lost(.timedOut, .notSent)])
    func failedConnectionsOpenTheHostsCircuit(_ failure: Result<Response, NetworkError>) async throws {
        let flaky = flaky([failure])
        await fail(flaky, times: 5)
        let error = await flaky.call(QueryCall(), options: once).failure
        #expect(error?.kind == .noNetwork && error?.step == .admission && error?.sending == .notSent)
        #expect(error?.detail == "library.test can't be reached; the next call can be sent in 1 s.")
        #expect(error?.host == "library.test" && error?.retryAfter == .seconds(1))
        #expect(await flaky.call(BookSearch(), options: once).failure?.step == .admission)
        #expect(flaky.attemptCount == 5)
        await flaky.layer.network.flushRecords()
        let decisions = flaky.layer.records.records.map { $0.decisions(of: AdmissionDecision.self) }
        #expect(decisions[4] == [.opened(host: "library.test", endpoint: nil, for: .seconds(1))])
        #expect(decisions[5] == [.refused(.circuitOpen(host: "library.test", endpoint: nil, for: .seconds(1)))])
    }

    @Test(arguments: [
        Result<Response, NetworkError>.lost(.timedOut), .lost(), .lost(.noNetwork, .sent), .status(500), .status(502),
        .status(503), .status(429),
    ])
    func refusalsOpenTheCircuitOfTheEndpointAlone(_ failure: Result<Response, NetworkError>) async throws {
        let flaky = flaky([failure])
        await fail(flaky, times: 5)
        let error = await flaky.call(QueryCall(), options: once).failure
        #expect(error?.kind == .unavailable && error?.step == .admission && error?.sending == .notSent)
        #expect(error?.detail == "QueryCall keeps failing at library.test; the next call can be sent in 1 s.")
        #expect(error?.host == "library.test" && error?.retryAfter == .seconds(1))
        #expect(flaky.attemptCount == 5)
        _ = await flaky.call(BookSearch(), options: once)
        #expect(flaky.attemptCount == 6)
        await flaky.layer.network.flushRecords()
        let decisions = flaky.layer.records.records.map { $0.decisions(of: AdmissionDecision.self) }
        #expect(decisions[4] == [.opened(host: "library.test", endpoint: "QueryCall", for: .seconds(1))])
        #expect(decisions[5] == [.refused(.circuitOpen(host: "library.test", endpoint: "QueryCall", for: .seconds(1)))])
    }

    @Test(arguments: [unreachable, .lost(), .status(500)])
    func bypassingCallIsSentAndClosesTheCircuit(_ failure: Result<Response, NetworkError>) async throws {
        let flaky = flaky(Array(repeating: failure, count: 6) + [.fine])
        await fail(flaky, times: 6)
        #expect(flaky.attemptCount == 5)
        let pull = CallOptions(retry: .off, bypassesCircuit: true)
        // One that fails neither closes the circuit nor extends it.
        _ = await flaky.call(QueryCall(), options: pull)
        #expect(await flaky.call(QueryCall(), options: once).failure?.retryAfter == .seconds(1))
        _ = try await flaky.call(QueryCall(), options: pull).get()
        _ = try await flaky.call(QueryCall(), options: once).get()
        #expect(flaky.attemptCount == 8)
    }

    @Test func bypassingCallCountsForTheFloodGuard() async throws {
        let flaky = FlakyLayer([.status(500)], admission: AdmissionLimits(maximumIdenticalRequests: 8))
        await fail(flaky, times: 5)
        let pull = CallOptions(retry: .off, bypassesCircuit: true)
        for _ in 0..<3 { _ = await flaky.call(QueryCall(), options: pull) }
        let error = await flaky.call(QueryCall(), options: pull).failure
        #expect(error?.kind == .overloaded && (error?.retryAfter ?? .zero) > .zero && flaky.attemptCount == 8)
    }

    @Test(arguments: [
        Result<Response, NetworkError>.status(400), .status(404), .status(401), .lost(.notTrusted),
        .lost(.invalidResponse),
        .fine,
    ])
    func faultsOfOthersLeaveTheHostsCircuitClosed(_ result: Result<Response, NetworkError>) async throws {
        let flaky = flaky([result])
        await fail(flaky, times: 20)
        #expect(flaky.attemptCount == 20)
    }

    @Test func otherHostsAreCalledAsBefore() async throws {
        let flaky = flaky([Self.unreachable])
        await fail(flaky, times: 6)
        _ = await flaky.call(PaintingList(), options: once)
        #expect(flaky.attemptCount == 6)
        #expect(flaky.layer.transport.requests.last?.head.authority == "museum.test")
    }

    @Test func oneCallProbesAndClosesTheHostsCircuit() async throws {
        let flaky = flaky(Array(repeating: Self.unreachable, count: 5) + [.fine])
        await fail(flaky, times: 5)
        flaky.layer.clock.advance(by: .seconds(1))
        _ = try await flaky.call(QueryCall()).get()
        await fail(flaky, times: 3)
        #expect(flaky.attemptCount == 9)
        await flaky.layer.network.flushRecords()
        #expect(
            flaky.layer.records.records[5].decisions(of: AdmissionDecision.self) == [
                .probing(host: "library.test", endpoint: "QueryCall")
            ])
    }

    @Test func probeIsNotRetried() async throws {
        let flaky = flaky([Self.unreachable])
        await fail(flaky, times: 5)
        flaky.layer.clock.advance(by: .seconds(1))
        _ = await flaky.call(QueryCall())
        #expect(flaky.attemptCount == 6)
        await flaky.layer.network.flushRecords()
        let record = try #require(flaky.layer.records.records.last)
        #expect(record.decisions(of: RetryDecision.self) == [.gaveUp(.circuitOpen, cause: .noNetwork(.notSent))])
        #expect(
            record.decisions(of: AdmissionDecision.self)
                == [
                    .probing(host: "library.test", endpoint: "QueryCall"),
                    .opened(host: "library.test", endpoint: nil, for: .seconds(2)),
                ])
    }

    @Test func retryAfterExtendsTheOpenTime() async throws {
        let flaky = flaky([.status(503, retryAfter: "90")])
        await fail(flaky, times: 5)
        flaky.layer.clock.advance(by: .seconds(89))
        await fail(flaky, times: 1)
        #expect(flaky.attemptCount == 5)
        flaky.layer.clock.advance(by: .seconds(1))
        await fail(flaky, times: 1)
        #expect(flaky.attemptCount == 6)
    }

    @Test func deviceWithoutANetworkBlamesNoHost() async throws {
        let status = SettableNetworkStatus(.wifi)
        let flaky = FlakyLayer([Self.unreachable], status: status, admission: AdmissionLimits()) { status.set(.none) }
        for _ in 0..<10 {
            status.set(.wifi)
            await fail(flaky, times: 1)
        }
        #expect(flaky.attemptCount == 10)
    }

    @Test func changeOfNetworkClosesAllCircuits() async throws {
        let status = SettableNetworkStatus(.wifi)
        let flaky = flaky(Array(repeating: Self.unreachable, count: 5) + [.fine], status: status)
        await fail(flaky, times: 6)
        #expect(flaky.attemptCount == 5)
        status.set(.cellular)
        _ = try await flaky.call(QueryCall()).get()
    }

    @Test func attemptsOfOneCallCountOnce() async throws {
        let flaky = flaky([Self.unreachable])
        for _ in 0..<4 { _ = await flaky.call(QueryCall()) }
        #expect(flaky.attemptCount == 12)
        #expect(
            flaky.layer.network.admission.isCircuitClosed(
                to: CircuitTarget(try #require(flaky.layer.transport.requests.first).head, of: QueryCall.self)))
    }

    @Test func callsThatAreCancelledBlameNoHost() async throws {
        let transport = ParkingTransport()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(retrying: .none))
        for page in 1...10 {
            let call = Task { try await network.call(Refresh(page: page)) }
            try await transport.wait { $0.parked.contains(UInt64(page)) }
            call.cancel()
            _ = await call.result
            try await waitUntil { network.admission.counts == (0, 0) }
        }
        let call = Task { try await network.call(Refresh(page: 11)) }
        try await transport.wait { $0.parked.contains(11) }
        transport.respond(11, with: .success(.json("{}")))
        _ = try await call.value
    }

    /// A layer of ``Club`` with an origin whose token server is as a test says.
    private func club(_ refreshes: ScriptedGate?) async throws -> (ClubOrigin, ManualClock, NetworkLayer) {
        let origin = ClubOrigin(refreshGate: refreshes)
        let clock = ManualClock()
        let network = NetworkLayer(transport: origin, pipeline: .tested, clock: LayerClock(clock))
        try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r1"), to: Club.self)
        network.configure(Club.self) { $0.deadline = .seconds(5) }
        origin.revoke()
        return (origin, clock, network)
    }

    @Test(arguments: [true, false])
    func callsThatGotNoTokenOpenNoCircuit(_ areReads: Bool) async throws {
        let (origin, clock, network) = try await club(ScriptedGate())
        let calls = (1...8).map { page in
            Task {
                areReads ? try await network.call(Members(page: page)) : try await network.call(Renewal(page: page))
            }
        }
        try await waitUntil { network.waitingForTokenCount >= 8 }
        clock.advance(by: .seconds(5))
        for call in calls { #expect(try await call.failure().kind == .timedOut) }
        try await waitUntil { network.admission.counts.admitted <= 1 }
        let head = try #require(origin.requests.first).head
        let endpoint: any Endpoint.Type = areReads ? Members.self : Renewal.self
        #expect(network.admission.isCircuitClosed(to: CircuitTarget(head, of: endpoint)))
    }

    @Test func unreachableTokenServerCausesNoCircuitOrRetry() async throws {
        let gate = ScriptedGate()
        let (origin, _, network) = try await club(gate)
        origin.respondToRefreshes(.failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        let calls = (1...8).map { page in Task { try await network.call(Members(page: page)) } }
        try await waitUntil { network.waitingForTokenCount >= 8 }
        gate.open()
        for call in calls {
            let error = try await call.failure()
            #expect(error.kind == .noNetwork && error.step == .authorizing)
        }
        #expect(origin.refreshCount == 1)
        let head = try #require(origin.requests.first).head
        #expect(network.admission.isCircuitClosed(to: CircuitTarget(head, of: Members.self)))
    }

    @Test func callsLeftBehindBlameTheEndpoint() async throws {
        let host = SilentHost()
        for page in 1...5 { _ = try await host.call(Refresh(page: page), after: .seconds(60)) }
        let error = await #expect(throws: NetworkError.self) { try await host.network.call(Refresh(page: 6)) }
        #expect(error?.kind == .unavailable)
    }

    /// Makes calls without responses, and advances the clock by this much in each.
    private func time(out count: Int, after time: Duration, _ options: CallOptions = .standard) async throws -> Bool {
        let host = SilentHost()
        for page in 1...count {
            #expect(try await host.call(Refresh(page: page), after: time, options).kind == .timedOut)
        }
        return try host.isCircuitClosed
    }

    @Test func tinyDeadlinesOfTheirCallersOpenNoCircuit() async throws {
        let tiny = CallOptions(wholeDeadline: .milliseconds(5))
        #expect(try await time(out: 20, after: .milliseconds(5), tiny))
        // Who waited half as long as the endpoint says has seen a host that is slow.
        let lifetime = Estates.deadline
        #expect(try await !time(out: 5, after: lifetime / 2, CallOptions(wholeDeadline: lifetime / 2)))
    }

    @Test func slotWaitsAreNoEvidenceAgainstTheHost() async throws {
        let transport = ParkingTransport()
        let clock = ManualClock()
        let limits = AdmissionLimits(maximumFlights: 1)
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock),
            limits: LayerLimits(admission: limits, retrying: .none))
        // Each waits for its turn nearly all of its time, and has a moment at the host.
        for round in 0..<8 {
            let first = UInt64(2 * round + 1)
            let leading = Task { try await network.call(Refresh(page: Int(first))) }
            try await transport.wait { $0.parked.contains(first) }
            let waiting = Task { try await network.call(Refresh(page: Int(first) + 1)) }
            try await waitUntil { network.admission.counts.waiting != 0 }
            clock.advance(by: Estates.deadline * 9 / 10)
            transport.respond(first, with: .success(.json("{}", status: .notFound)))
            _ = await leading.result
            try await transport.wait { $0.parked.contains(first + 1) }
            try await clock.waitForSleepers()
            clock.advance(by: Estates.deadline / 10)
            #expect(try await waiting.failure().kind == .timedOut)
            try await waitUntil { network.admission.counts == (0, 0) }
            let head = try #require(transport.request(of: first)).head
            #expect(network.admission.isCircuitClosed(to: CircuitTarget(head, of: Refresh.self)))
        }
    }

    @Test func signOutCuttingLongCallsOpensNoCircuit() async throws {
        let host = SilentHost()
        for page in 1...8 {
            host.network.configure(Estates.self) { $0.account = "ann" }
            let error = try await host.call(Refresh(page: page), after: Estates.deadline * 9 / 10) {
                try await host.network.signOut(of: Estates.self)
            }
            #expect(error.kind == .cancelled)
        }
        #expect(try host.isCircuitClosed)
    }

    @Test func servicesGetsHaveACircuitForEachPath() async throws {
        let flaky = flaky(Array(repeating: .status(500), count: 5) + [.fine])
        for page in 1...5 {
            _ = await flaky.call(Library.get("broken", ["page": .integer(Int64(page))]), options: once)
        }
        #expect(await flaky.call(Library.get("broken", ["page": 6]), options: once).failure?.kind == .unavailable)
        _ = try await flaky.call(Library.get("books"), options: once).get()
        #expect(flaky.attemptCount == 6)
    }

    @Test func circuitBreakerCanBeTurnedOff() async throws {
        let flaky = FlakyLayer([Self.unreachable], admission: AdmissionLimits(circuitBreaker: nil))
        await fail(flaky, times: 30)
        #expect(flaky.attemptCount == 30)
    }
}

/// A layer whose host responds to nothing, and its clock.
private struct SilentHost {
    let network: NetworkLayer
    private let transport = ParkingTransport()
    private let clock = ManualClock()
    private let records = RecordCollector()

    init() {
        network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(retrying: .none))
    }

    var isCircuitClosed: Bool {
        get throws {
            let head = try #require(transport.request(of: 1)).head
            return network.admission.isCircuitClosed(to: CircuitTarget(head, of: Refresh.self))
        }
    }

    /// Makes a call, lets time pass once its request is on the wire, and then does what ends it.
    ///
    /// - Returns: What the call fails with.
    /// - Throws: The error of a call that ends before its request is on the wire.
    func call(
        _ endpoint: Refresh, after time: Duration, _ options: CallOptions = .standard,
        ending end: () async throws -> Void = {}
    ) async throws -> NetworkError {
        let (id, before) = (UInt64(endpoint.page), records.records.count)
        let call = Task { try await network.call(endpoint, options: options) }
        try await transport.wait { $0.parked.contains(id) || records.records.count > before }
        if !transport.parked.contains(id) { _ = try await call.value }
        try await clock.waitForSleepers()
        clock.advance(by: time)
        try await end()
        let error = try await call.failure()
        try await waitUntil { network.admission.counts == (0, 0) && records.records.count > before }
        return error
    }
}

/// A change that needs a token.
private struct Renewal: Endpoint {
    static let service = Club.self
    static let method = HTTPRequest.Method.put
    var path: EndpointPath { "renewal/\(page)" }
    @Unencoded var page = 1
}
