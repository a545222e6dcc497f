/// Bounds the whole call in time, and moves it off the caller's actor.
///
/// The caller continues at the first of three events: a response, the deadline, or its own cancellation. If everything below
/// promises to end by itself at the last two, it runs in the caller's task. Otherwise it runs in a task of its own, which is
/// then cancelled and not waited for, so that no stage and no transport can block a caller longer than it wants to wait. Bodies
/// pass unchanged.
struct DeadlineStage: RequestStage {
    var step: FlightStep { .deadline }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        // Whether a deadline has passed already must not depend on a race between the timer and the wire.
        guard flight.clock.now < flight.ownDeadline else { throw timedOut(flight) }
        if next.endsInTime(request, in: flight) {
            do throws(NetworkError) {
                return try await sendOffActor(request, in: flight, next)
            } catch {
                throw error.kind == .timedOut && flight.clock.now >= flight.ownDeadline ? timedOut(flight) : error
            }
        }
        return try await next.sendDetached(request, in: flight) {
            flight.fallbackResponse().map(Result.success) ?? .failure(timedOut(flight))
        }
    }

    private func timedOut(_ flight: Flight) -> NetworkError {
        flight.timeout("There was no response within \(flight.lifetime.text).", in: step)
    }

    /// Sends without an actor: the stages below must not work on the caller's actor, which may be the main actor.
    @concurrent private func sendOffActor(
        _ request: Request, in flight: Flight, _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}
