/// Limits the time of the whole call, and moves the call off the caller's actor.
///
/// The caller continues at the first of three events: a response, the deadline, or its own cancellation. If all later
/// stages and the transport promise to end at the deadline and at a cancellation, they run in the caller's task.
/// Otherwise they run in a separate task. That task is then cancelled, and its end is not awaited, so that no stage or
/// transport can block a caller longer than the caller wants to wait. Bodies pass unchanged.
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
