import Synchronization

/// The end of a flight's wait.
enum WaitEnd: Sendable {
    /// The call got the permit that it waited for.
    case granted
    /// The call did not wait: too many wait already.
    case refused
    /// The deadline of the call passed.
    case timedOut
    /// The task of the call was cancelled.
    case cancelled
}

extension Flight {
    /// The instant by which the whole call has to end, including a streamed body; `nil` if the options name none.
    var wholeDeadline: Duration? { options.wholeDeadline.map { startTime + max(.zero, $0) } }

    /// Returns the time for which a transfer has sent and received no byte, counted from `start` at the earliest; for
    /// all other calls, the time since `start`.
    func silence(since start: Duration, at now: Duration) -> Duration {
        now - max(start, startTime + .nanoseconds(lastByteTime.load(ordering: .relaxed)))
    }

    /// Returns the error of a call whose deadline has passed: the error of the whole call, or another with `reason`.
    func timeout(_ reason: String, in step: FlightStep, sending: SendState = .unknown) -> NetworkError {
        if isEndedEarly { return earlyEnd(in: step, sending: sending) }
        let isWhole = wholeDeadline.map { clock.now >= $0 } ?? false
        let detail = isWhole ? "The call did not end within \((options.wholeDeadline ?? .zero).text)." : reason
        return NetworkError(.timedOut, in: step, detail, sending: sending)
    }

    /// Waits until the continuation is resumed, the deadline passes or the task is cancelled.
    ///
    /// - Parameters:
    ///   - enter: Stores the continuation and returns `nil`, or returns how the wait ends at once.
    ///   - leave: Called when the deadline passed or the task was cancelled, on any thread, before, while or after
    ///     `enter` runs: resumes the continuation with the end that is passed to it, if it is still stored.
    func wait(
        enter: (CheckedContinuation<WaitEnd, Never>) -> WaitEnd?, leave: @escaping @Sendable (WaitEnd) -> Void
    ) async -> WaitEnd {
        await withDeadlineHandler {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if let end = enter(continuation) { continuation.resume(returning: end) }
                    // A call of `leave` before the continuation was stored found nothing to resume.
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
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
