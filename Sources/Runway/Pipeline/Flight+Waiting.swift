import Synchronization

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
    /// The instant by which all of the call has to be over, with a body that comes or goes as a stream; `nil` where none was named.
    var wholeDeadline: Duration? { options.wholeDeadline.map { takeOff + max(.zero, $0) } }

    /// How long there has been no byte of a transfer since `start`; of all other calls, how long ago `start` was.
    func silence(since start: Duration, at now: Duration) -> Duration {
        now - max(start, takeOff + .nanoseconds(putOff.load(ordering: .relaxed)))
    }

    /// The error of a call whose time is over: that of all of it, or another for the reason given.
    func timeout(_ reason: String, in step: FlightStep, sending: SendState = .unknown) -> NetworkError {
        if isCalledOff { return signedOut(in: step, sending: sending) }
        let isWhole = wholeDeadline.map { clock.now >= $0 } ?? false
        let detail = isWhole ? "The call was not over within \(options.wholeDeadline ?? .zero)." : reason
        return NetworkError(.timedOut, in: step, detail, sending: sending)
    }

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

extension Duration {
    /// The duration in whole nanoseconds.
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
