import Synchronization

/// Lets exactly one of several outcomes resume a caller; the others find it done.
final class Race<Outcome: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var task: Task<Void, Never>?
        var outcome: Outcome?
    }

    /// Guards who waits, who works, and what the first brought.
    private let state = Mutex(State())

    /// Works in a task of its own and waits for the first outcome: the work's, that of the caller's cancellation, or one that is given to
    /// ``finish(_:)`` meanwhile. The work that lost is cancelled and left to wind down.
    func run(onCancel cancelled: Outcome, _ work: @escaping @Sendable () async -> Outcome) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard begin(continuation) else { return }
                attach(Task { @concurrent in self.finish(await work()) })
            }
        } onCancel: {
            finish(cancelled)
        }
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

    /// Registers the caller. Gives `false`, and resumes it, where the race was over before it began.
    private func begin(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let early = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let early { continuation.resume(returning: early) }
        return early == nil
    }

    /// Registers the task that works; it is cancelled at once where the race is already over without it.
    private func attach(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.task = task
            return state.outcome != nil
        }
        if isOver { task.cancel() }
    }
}
