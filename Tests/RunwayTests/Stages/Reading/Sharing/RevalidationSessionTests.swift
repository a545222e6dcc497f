import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A stale response is revalidated only as the account and in the environment that it belongs to.
@Suite(.timeLimit(.minutes(5)))
struct RevalidationSessionTests {
    /// Holds calls above the cache while it is active: before their lookup, or after their response.
    private final class Hold: RequestStage {
        let gate = ScriptedGate()
        let isActive = Atomic(false)
        private let isBefore: Bool
        var step: FlightStep { .customStage("hold") }

        init(isBefore: Bool) { self.isBefore = isBefore }

        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            if isBefore { try await pass() }
            let response = try await next.send(request, in: flight)
            if !isBefore { try await pass() }
            return response
        }

        private func pass() async throws(NetworkError) {
            guard isActive.load(ordering: .relaxed) else { return }
            do { try await gate.pass() } catch { throw .cancelled(in: step) }
        }
    }

    /// What happens while a stale response is returned.
    enum Change: CaseIterable {
        case signIn, signOutAndSignIn, environment

        fileprivate func make(in network: NetworkLayer) async throws {
            switch self {
            case .environment: return network.configure(Club.self) { $0.environment = .development }
            case .signOutAndSignIn: try await network.signOut(of: Club.self, cancelling: false)
            case .signIn: break
            }
            try await network.signIn(AccessToken("of bob", account: "bob"), to: Club.self)
        }
    }

    private let clock = ManualClock()
    private let records = RecordCollector()
    private let transport = StubTransport { _ in
        var response = Response.json("{}")
        response.head.headerFields[.cacheControl] = "max-age=10, stale-while-revalidate=600"
        return response
    }

    /// A layer to which Ann is signed in.
    private func layer(_ hold: Hold) async throws -> NetworkLayer {
        var pipeline = RequestPipeline.tested
        pipeline.insert(hold, before: .reading)
        let network = NetworkLayer(
            transport: transport, pipeline: pipeline, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(AccessToken("of ann", account: "ann"), to: Club.self)
        return network
    }

    /// Makes a call twice, the second time when its response is stale; makes the change meanwhile, and checks that nothing is
    /// revalidated: the flight that would do it is cancelled, and has a record.
    private func check(
        _ change: Change, _ network: NetworkLayer, _ hold: Hold,
        _ call: @escaping @Sendable () async throws -> ResponseSource
    ) async throws {
        #expect(try await call() == .network)
        clock.advance(by: .seconds(15))
        hold.isActive.store(true, ordering: .relaxed)
        let task = Task { try await call() }
        try await hold.gate.waitForArrivals()
        try await change.make(in: network)
        hold.gate.open()
        #expect(try await task.value == .staleCache)
        // What is revalidated is in flight as the call returns, or was sent already.
        #expect(network.cache.background.count == 0 && transport.requests.count == 1)
        await network.flushRecords()
        let all = records.records.sorted { $0.id < $1.id }
        try #require(all.count == 3)
        #expect(all[2].outcome.kind == .cancelled)
        #expect(all[2].decisions(of: CacheDecision.self) == [.revalidatingFor(all[1].id)])
    }

    @Test(arguments: Change.allCases)
    func staleResponseIsNotRevalidatedAfterAChange(_ change: Change) async throws {
        let options = CallOptions(cache: .timeToLive(.seconds(10), staleWhileRevalidate: .seconds(600)))
        let hold = Hold(isBefore: false)
        let network = try await layer(hold)
        try await check(change, network, hold) {
            try await network.call(Members(), options: options).source
        }
    }

    @Test(arguments: Change.allCases)
    func staleExchangeIsNotRevalidatedAfterAChange(_ change: Change) async throws {
        let options = CallOptions(cache: .timeToLive(.seconds(10), staleWhileRevalidate: .seconds(600)))
        let hold = Hold(isBefore: false)
        let network = try await layer(hold)
        let flight = network.makeFlight(Members.self, options)
        let request = try network.assemble(Members(), delivery: .whole(maximumByteCount: 1 << 20), in: flight)
        try await check(change, network, hold) {
            try await network.exchange(request, with: Club.self, options: options).source
        }
    }

    /// The cache of HTTP revalidates as soon as it has looked, so that the change has to come before.
    @Test(arguments: [Change.signIn, .environment])
    func changeCancelsRevalidationOfStaleHTTPResponses(_ change: Change) async throws {
        let options = CallOptions(cache: .http())
        let hold = Hold(isBefore: true)
        let network = try await layer(hold)
        try await check(change, network, hold) {
            try await network.call(Members(), options: options).source
        }
    }
}
