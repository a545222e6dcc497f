import Runway
import RunwayTesting
import Testing

struct PassThroughStageTests {
    @Test func cacheHitSendsNothingBelowACustomStage() async throws {
        struct Stored: Endpoint {
            static let service = Library.self
            static let cache = CachePolicy.timeToLive(.seconds(60))
            var path: EndpointPath { "stored" }
        }
        let layer = StubbedLayer(pipeline: .withPassThroughStages)
        #expect(try await layer.network.call(Stored()).source == .network)
        #expect(try await layer.network.call(Stored()).source == .cache)
        #expect(layer.transport.requests.count == 1)
    }
}
