import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A stale response of one account is revalidated only as that account.
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

    private let clock = ManualClock()
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
            transport: transport, pipeline: pipeline, clock: LayerClock(clock),
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(AccessToken("of ann", account: "ann"), to: Club.self)
        return network
    }

    /// Makes a call twice, the second time when its response is stale; lets Bob sign in meanwhile, and checks that nothing is revalidated.
    private func change(
        _ network: NetworkLayer, _ hold: Hold, isSignedOut: Bool,
        _ call: @escaping @Sendable () async throws -> ResponseSource
    ) async throws {
        #expect(try await call() == .network)
        clock.advance(by: .seconds(15))
        hold.isActive.store(true, ordering: .relaxed)
        let task = Task { try await call() }
        try await hold.gate.waitForArrivals()
        if isSignedOut { try await network.signOut(of: Club.self, cancelling: false) }
        try await network.signIn(AccessToken("of bob", account: "bob"), to: Club.self)
        hold.gate.open()
        #expect(try await task.value == .staleCache)
        // What is revalidated is in flight as the call returns, or was sent already.
        #expect(network.cache.background.count == 0 && transport.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func nextAccountDoesNotRevalidateAStaleResponse(_ isSignedOut: Bool) async throws {
        let options = CallOptions(cache: .timeToLive(.seconds(10), staleWhileRevalidate: .seconds(600)))
        let hold = Hold(isBefore: false)
        let network = try await layer(hold)
        try await change(network, hold, isSignedOut: isSignedOut) {
            try await network.call(Members(), options: options).source
        }
    }

    @Test(arguments: [true, false])
    func nextAccountDoesNotRevalidateAStaleExchange(_ isSignedOut: Bool) async throws {
        let options = CallOptions(cache: .timeToLive(.seconds(10), staleWhileRevalidate: .seconds(600)))
        let hold = Hold(isBefore: false)
        let network = try await layer(hold)
        let flight = network.makeFlight(Members.self, options)
        let request = try network.assemble(Members(), delivery: .whole(maximumByteCount: 1 << 20), in: flight)
        try await change(network, hold, isSignedOut: isSignedOut) {
            try await network.exchange(request, with: Club.self, options: options).source
        }
    }

    /// The cache of HTTP revalidates as soon as it has looked, so that the account has to change before.
    @Test func nextAccountDoesNotRevalidateStaleHTTPResponses() async throws {
        let options = CallOptions(cache: .http())
        let hold = Hold(isBefore: true)
        let network = try await layer(hold)
        try await change(network, hold, isSignedOut: false) {
            try await network.call(Members(), options: options).source
        }
    }
}
