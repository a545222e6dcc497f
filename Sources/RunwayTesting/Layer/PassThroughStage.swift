import Foundation
package import Runway

/// Changes nothing. A custom stage must not change the promises of the stages beside it: tests put this stage at every
/// place of the pipeline.
package struct PassThroughStage: RequestStage {
    package init() {}

    package var step: FlightStep { .customStage("passThrough") }
    package var endsInTime: Bool { true }

    package func respondImmediately(
        _ draft: inout RequestDraft, in flight: Flight
    ) throws(NetworkError) -> ImmediateResponse {
        .pass
    }

    package func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}

extension RequestPipeline {
    /// The default stages; with a stage that changes nothing before and after each place if `RUNWAY_TESTS_PASS_THROUGH`
    /// is set.
    ///
    /// The suites that the last two commands of `Scripts/test.sh` run pass with and without them.
    package static var tested: RequestPipeline {
        isPassThroughTested ? .withPassThroughStages : RequestPipeline()
    }

    /// The default stages, with a stage that changes nothing before and after each place.
    package static var withPassThroughStages: RequestPipeline {
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
