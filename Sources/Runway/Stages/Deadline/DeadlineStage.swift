/// Bounds the whole call in time, and moves it off the caller's actor.
///
/// The caller continues at the first of three events: a response, the deadline, or its own cancellation. If everything
/// below promises to end by itself at the last two, it runs in the caller's task. Otherwise it runs in a task of its
/// own, which is then cancelled and not waited for, so that no stage and no transport can block a caller longer than it
/// wants to wait. Bodies pass unchanged.
struct DeadlineStage: RequestStage {
    var step: FlightStep { .deadline }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.sendWithinDeadline(request, in: flight)
    }
}
