import Foundation
import Runway
import RunwayTesting
import Testing

/// A stage that changes nothing.
struct PassThroughStage: RequestStage {
    var step: FlightStep { .customStage("passThrough") }
    var endsInTime: Bool { true }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}

extension RequestPipeline {
    /// The default stages; with a stage that changes nothing before and after each place if `RUNWAY_TESTS_PASS_THROUGH` is set.
    ///
    /// A custom stage must change nothing that the stages beside it promise: the whole suite passes with and without them.
    static var tested: RequestPipeline {
        isPassThroughTested ? .withPassThroughStages : RequestPipeline()
    }

    static var withPassThroughStages: RequestPipeline {
        var pipeline = RequestPipeline()
        for place in RequestPipeline.places {
            pipeline.insert(PassThroughStage(), before: place)
            pipeline.insert(PassThroughStage(), after: place)
        }
        return pipeline
    }

    private static let isPassThroughTested =
        ProcessInfo.processInfo.environment["RUNWAY_TESTS_PASS_THROUGH"] != nil
}

struct PassThroughStageTests {
    @Test func cacheHitMakesNoRequestBelowACustomStage() async throws {
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
