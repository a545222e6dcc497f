import Synchronization

/// Bounds the whole call in time, and takes it off the caller's actor.
///
/// The caller goes on as soon as the first of three things happens: an answer, the deadline, or its own cancellation. Where
/// everything below promises to end by itself in the last two, it runs in the caller's task. Otherwise it runs in a task of its
/// own, which is then cancelled and left to wind down, so that no stage and no transport can hold a caller longer than it wants to
/// wait. Bodies pass untouched.
struct DeadlineStage: RequestStage {
    var step: FlightStep { .stage(.deadline) }

    func answerImmediately(_ request: Request, in flight: Flight) throws(NetworkError) -> ImmediateAnswer { .pass }

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
        let race = Race()
        let step = step
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard race.begin(continuation) else { return }
                let task = Task { @concurrent () async -> Void in
                    do throws(NetworkError) {
                        let response = try await flight.withDeadlineHandler { () async throws(NetworkError) in
                            try await next.send(request, in: flight)
                        } onDeadline: {
                            race.finish(.failure(timedOut(flight)))
                        }
                        race.finish(.success(response))
                    } catch {
                        race.finish(.failure(error))
                    }
                }
                race.attach(task)
            }
        } onCancel: {
            race.finish(.failure(.cancelled(in: step)))
        }
        return try result.get()
    }

    private func timedOut(_ flight: Flight) -> NetworkError {
        NetworkError(.timedOut, in: step, "There was no answer within \(flight.ownDeadline - flight.takeOff).")
    }

    /// Sends without an actor: what the stages below do with an answer is no work for the caller's, which may be the main actor.
    @concurrent private func sendOffActor(
        _ request: Request, in flight: Flight, _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}

/// Lets exactly one of answer, deadline and cancellation resume the caller; the others find it done.
private final class Race: Sendable {
    typealias Outcome = Result<Response, NetworkError>

    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var task: Task<Void, Never>?
        var outcome: Outcome?
    }

    /// Guards who waits, who works, and what the first of the three brought.
    private let state = Mutex(State())

    /// Registers the caller. Gives `false`, and resumes it, where the call was cancelled before it began.
    func begin(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let early = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let early { continuation.resume(returning: early) }
        return early == nil
    }

    /// Registers the task that works below; it is cancelled at once where the race is already over without it.
    func attach(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.task = task
            return state.outcome != nil
        }
        if isOver { task.cancel() }
    }

    /// Ends the race with `outcome` if nothing ended it before.
    func finish(_ outcome: Outcome) {
        let (continuation, task) = state.withLock { state in
            guard state.outcome == nil else {
                return (nil as CheckedContinuation<Outcome, Never>?, nil as Task<Void, Never>?)
            }
            state.outcome = outcome
            defer { state.continuation = nil }
            return (state.continuation, state.task)
        }
        task?.cancel()
        continuation?.resume(returning: outcome)
    }
}
