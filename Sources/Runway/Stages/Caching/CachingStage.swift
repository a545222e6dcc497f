import HTTPTypes

/// Answers from what is kept, by the policy of the call.
struct CachingStage: RequestStage {
    var step: FlightStep { .stage(.caching) }
    var endsInTime: Bool { true }

    func answerImmediately(_ request: Request, in flight: Flight) throws(NetworkError) -> ImmediateAnswer {
        guard flight.cachePolicy.rule == .http else { return .pass }
        return try HTTPCaching().answerImmediately(request, in: flight)
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        // A change of what others keep by HTTP is no affair of this call's own policy.
        guard flight.cachePolicy.rule == .http || !request.head.method.isSafe else {
            return try await next.send(request, in: flight)
        }
        return try await HTTPCaching().respond(to: request, in: flight, next: next)
    }
}
