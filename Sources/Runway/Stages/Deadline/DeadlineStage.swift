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

extension RequestPipeline.Rest {
    /// Sends a request off the caller's actor. Returns at the latest when the deadline of the call passes or the task
    /// is cancelled.
    ///
    /// - Throws: ``NetworkError/Kind/timedOut`` if the deadline passed and no stale response may be used instead.
    func sendWithinDeadline(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        // The deadline is checked here so that a deadline in the past does not race with the transport.
        guard flight.clock.now < flight.ownDeadline else { throw flight.missedDeadline }
        if endsInTime(request, in: flight) {
            do throws(NetworkError) {
                return try await sendOffActor(request, in: flight)
            } catch {
                throw error.kind == .timedOut && flight.clock.now >= flight.ownDeadline ? flight.missedDeadline : error
            }
        }
        return try await sendDetached(request, in: flight) {
            flight.fallbackResponse().map(Result.success) ?? .failure(flight.missedDeadline)
        }
    }

    /// Sends without an actor, because the later stages must not run on the caller's actor, which may be the main
    /// actor.
    @concurrent private func sendOffActor(
        _ request: Request, in flight: Flight
    ) async throws(NetworkError) -> Response {
        try await send(request, in: flight)
    }

    /// Sends a request. Returns at the latest when the deadline of the call passes or the task is cancelled.
    ///
    /// Unless the lower stages promise to end in time, they run in a separate task. That task is cancelled at the
    /// deadline, and its end is not awaited.
    ///
    /// - Parameter timedOut: Returns the outcome of a call whose deadline has passed.
    func sendDetached(
        _ request: Request, in flight: Flight,
        timedOut: @escaping @Sendable () -> Result<Response, NetworkError>
    ) async throws(NetworkError) -> Response {
        if endsInTime(request, in: flight) { return try await send(request, in: flight) }
        let race = Race<Result<Response, NetworkError>>()
        let result = await race.run(onCancel: .failure(.cancelled(in: .deadline))) {
            () async -> Result<Response, NetworkError> in
            do throws(NetworkError) {
                return .success(
                    try await flight.withDeadlineHandler { () async throws(NetworkError) in
                        try await send(request, in: flight)
                    } onDeadline: {
                        race.finish(timedOut())
                    })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension Flight {
    fileprivate var missedDeadline: NetworkError {
        timeout("There was no response within \(lifetime.text).", in: .deadline)
    }
}
