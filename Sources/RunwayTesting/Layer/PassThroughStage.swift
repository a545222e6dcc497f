import Foundation
package import Runway

/// A stage that changes nothing. Tests insert it at every place of the pipeline, to check that a custom stage does not
/// change the behaviour of its neighbours.
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
    /// The default stages. If `RUNWAY_TESTS_PASS_THROUGH` is set, a stage that changes nothing surrounds each of them.
    ///
    /// The last two commands of `Scripts/test.sh` set this variable, and run suites that also run without it.
    package static var tested: RequestPipeline {
        isPassThroughTested ? .withPassThroughStages : RequestPipeline()
    }

    /// The default stages, each surrounded by stages that change nothing.
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
