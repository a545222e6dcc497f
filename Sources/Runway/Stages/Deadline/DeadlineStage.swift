/// Bounds the whole call in time, and takes it off the caller's actor.
///
/// The caller goes on as soon as the first of three things happens: an answer, the deadline, or its own cancellation. Where
/// everything below promises to end by itself in the last two, it runs in the caller's task. Otherwise it runs in a task of its
/// own, which is then cancelled and left to wind down, so that no stage and no transport can hold a caller longer than it wants to
/// wait. Bodies pass untouched.
struct DeadlineStage: RequestStage {
    var step: FlightStep { .stage(.deadline) }

    func answerImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateAnswer {
        .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        // A deadline that has passed already must not depend on who is quicker, the timer or the wire.
        guard flight.clock.now < flight.ownDeadline else { throw timedOut(flight) }
        if next.endsInTime(request, in: flight) {
            do throws(NetworkError) {
                return try await sendOffActor(request, in: flight, next)
            } catch {
                throw error.kind == .timedOut && flight.clock.now >= flight.ownDeadline ? timedOut(flight) : error
            }
        }
        let race = Race<Result<Response, NetworkError>>()
        let result = await race.run(onCancel: .failure(.cancelled(in: step))) {
            () async -> Result<Response, NetworkError> in
            do throws(NetworkError) {
                return .success(
                    try await flight.withDeadlineHandler { () async throws(NetworkError) in
                        try await next.send(request, in: flight)
                    } onDeadline: {
                        race.finish(flight.fallbackResponse().map(Result.success) ?? .failure(timedOut(flight)))
                    })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func timedOut(_ flight: Flight) -> NetworkError {
        flight.timeout("There was no answer within \(flight.lifetime).", in: step)
    }

    /// Sends without an actor: what the stages below do with an answer is no work for the caller's, which may be the main actor.
    @concurrent private func sendOffActor(
        _ request: Request, in flight: Flight, _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}
