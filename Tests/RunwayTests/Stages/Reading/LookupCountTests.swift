import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// How often a call looks for a stored response.
struct LookupCountTests {
    private struct Painting: Endpoint {
        static let service = Gallery.self
        static let cache = CachePolicy.timeToLive(.seconds(60))
        var path: EndpointPath { "paintings" }
    }

    private struct Sketch: Endpoint {
        static let service = Gallery.self
        static let cache = CachePolicy.http()
        var path: EndpointPath { "sketches" }
    }

    private func lookupCount<E: Endpoint>(of endpoint: E) async throws -> UInt64 {
        let layer = StubbedLayer()
        #expect(try await layer.network.call(endpoint).source == .network)
        return layer.network.cache.state.withLock(\.memoryLookupCount)
    }

    @Test func missMakesOneLookupUnderEachPolicy() async throws {
        #expect(try await lookupCount(of: Painting()) == 1)
        #expect(try await lookupCount(of: Sketch()) == 1)
    }
}
