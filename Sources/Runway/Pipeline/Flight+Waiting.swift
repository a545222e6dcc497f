/// How a wait of a flight ended.
enum WaitEnd: Sendable {
    /// With what was waited for.
    case granted
    /// It did not begin: too many wait already.
    case refused
    /// With the deadline of the call.
    case timedOut
    /// With the call's task.
    case cancelled
}

extension Flight {
    /// Waits until somebody resumes the continuation, and no longer than the deadline and the task.
    ///
    /// - Parameters:
    ///   - enter: Keeps the continuation and returns `nil`, or returns how the wait ends at once.
    ///   - leave: Called when the deadline passed or the task was cancelled, on any thread, before, while or after `enter` runs: resumes
    ///     the continuation with the given end if it is still kept.
    func wait(
        enter: (CheckedContinuation<WaitEnd, Never>) -> WaitEnd?, leave: @escaping @Sendable (WaitEnd) -> Void
    ) async -> WaitEnd {
        await withDeadlineHandler {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if let end = enter(continuation) { continuation.resume(returning: end) }
                    // Whoever called `leave` before the continuation was kept, found nothing to resume.
                    if Task.isCancelled { leave(.cancelled) } else if clock.now >= deadline { leave(.timedOut) }
                }
            } onCancel: {
                leave(.cancelled)
            }
        } onDeadline: {
            leave(.timedOut)
        }
    }
}
