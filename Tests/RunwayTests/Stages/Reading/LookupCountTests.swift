import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// How often a call looks for a stored response: a lookup makes what it finds the most recently used.
struct LookupCountTests {
    private struct Painting: Endpoint {
        static let service = Gallery.self
        static let cache = CachePolicy.timeToLive(.seconds(10))
        var path: EndpointPath { "paintings" }
    }

    private struct Statue: Endpoint {
        static let service = Gallery.self
        static let cache = CachePolicy.timeToLive(.seconds(1000))
        var path: EndpointPath { "statues" }
    }

    private struct Sketch: Endpoint {
        static let service = Gallery.self
        static let cache = CachePolicy.http()
        @Unencoded var number: Int
        var path: EndpointPath { "sketches/\(number)" }
    }

    /// Stands between the lookup that a call makes in its caller's turn and the stage that sends what is not stored.
    private final class Interlude: RequestStage {
        /// Guards what runs when a request passes.
        private let action = Mutex<(@Sendable () async -> Void)?>(nil)

        let step = FlightStep.customStage("interlude")

        func run(_ action: @escaping @Sendable () async -> Void) { self.action.withLock { $0 = action } }

        func respondImmediately(
            _ draft: inout RequestDraft, in flight: Flight
        ) throws(NetworkError) -> ImmediateResponse {
            .pass
        }

        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            if let action = action.withLock({ $0.take() }) { await action() }
            return try await next.send(request, in: flight)
        }
    }

    /// Calls an endpoint whose response is stale after 10 s, while another is used between its lookup and its request.
    private func expectOneLookup<Stale: Endpoint, Fresh: Endpoint, Key: Equatable & Sendable>(
        of stale: Stale, beside fresh: Fresh, keys: @escaping @Sendable (ResponseCache.State) -> [Key]
    ) async throws {
        let (interlude, server, clock) = (Interlude(), GalleryServer(), ManualClock())
        var pipeline = RequestPipeline.tested
        pipeline.insert(interlude, after: .deadline)
        let network = NetworkLayer(
            transport: StubTransport { _ throws(NetworkError) in try server.next() }, pipeline: pipeline,
            clock: LayerClock(clock), limits: LayerLimits(admission: .none, retrying: .none))
        let order: @Sendable () -> [Key] = { network.cache.state.withLock { keys($0) } }
        for (call, age) in [(0, 10), (1, 1000)] {
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=\(age)"])
            server.respond(with: .success(Response(head: head, body: .whole(RawData(Array("{}".utf8))))))
            _ = try await call == 0 ? network.call(stale) : network.call(fresh)
        }
        let before = order()
        #expect(before.count == 2)
        clock.advance(by: .seconds(60))
        server.respond(with: .failure(NetworkError(.notTrusted, in: .transporting, "refused")))
        await confirmation { passed in
            interlude.run {
                passed()
                #expect(order() == before.reversed(), "the first lookup used the stale response")
                #expect((try? await network.call(fresh))?.source == .cache)
            }
            await #expect(throws: NetworkError.self) { try await network.call(stale) }
        }
        #expect(order() == before, "a second lookup used the stale response again")
    }

    @Test func eachPolicyLooksUpAStaleResponseOnce() async throws {
        try await expectOneLookup(of: Painting(), beside: Statue()) { $0.entries.keys }
        try await expectOneLookup(of: Sketch(number: 1), beside: Sketch(number: 2)) { $0.targets.keys }
    }
}
