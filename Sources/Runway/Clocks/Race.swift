import Synchronization

/// Resumes a waiting caller with the first of several outcomes. Later outcomes are ignored.
package final class Race<Outcome: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var task: Task<Void, Never>?
        var outcome: Outcome?
    }

    /// Guards the waiting caller, the task that runs the work, and the first outcome.
    private let state = Mutex(State())

    package init() {}

    /// Runs `work` in its own task and waits for the first outcome. The outcome is the result of `work`, `cancelled` if
    /// the caller is cancelled, or the value that is passed to ``finish(_:)``. If another outcome comes before the
    /// result, `work` is cancelled, and its end is not awaited.
    package func run(onCancel cancelled: Outcome, _ work: @escaping @Sendable () async -> Outcome) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard begin(continuation) else { return }
                attach(Task { @concurrent in self.finish(await work()) })
            }
        } onCancel: {
            finish(cancelled)
        }
    }

    /// Waits for the first outcome: `cancelled` if the caller is cancelled, or the outcome that is passed to
    /// ``finish(_:)``.
    package func wait(onCancel cancelled: Outcome) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { _ = begin($0) }
        } onCancel: {
            finish(cancelled)
        }
    }

    /// Ends the race with `outcome` unless the race has already ended.
    package func finish(_ outcome: Outcome) {
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

    /// Registers the waiting caller. If the race has already ended, resumes the caller and returns `false`.
    private func begin(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let early = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let early { continuation.resume(returning: early) }
        return early == nil
    }

    /// Registers the task that runs the work. Cancels the task at once if the race has already ended.
    private func attach(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.task = task
            return state.outcome != nil
        }
        if isOver { task.cancel() }
    }
}
