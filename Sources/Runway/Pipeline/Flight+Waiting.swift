import Synchronization

/// The way in which the wait of a call ended.
enum WaitEnd: Sendable {
    /// The wait was successful: the call got what it waited for, for example a permit.
    case granted
    /// The call did not wait, because too many calls already wait.
    case refused
    /// The deadline of the call passed.
    case timedOut
    /// The task of the call was cancelled.
    case cancelled
}

extension Flight {
    /// The time by which the whole call must end, including a streamed body; `nil` if the options contain no whole
    /// deadline.
    var wholeDeadline: Duration? { options.wholeDeadline.map { startTime + max(.zero, $0) } }

    /// Returns the time since a transfer last sent or received a byte, but at most the time since `start`. For calls
    /// that are not transfers, returns the time since `start`.
    func silence(since start: Duration, at now: Duration) -> Duration {
        now - max(start, startTime + .nanoseconds(lastByteTime.load(ordering: .relaxed)))
    }

    /// Returns the error of a call whose deadline has passed. If its whole deadline has passed, the error states that;
    /// otherwise the error has the detail `reason`.
    func timeout(_ reason: String, in step: FlightStep, sending: SendState = .unknown) -> NetworkError {
        if isEndedEarly { return earlyEnd(in: step, sending: sending) }
        let isWhole = wholeDeadline.map { clock.now >= $0 } ?? false
        let detail = isWhole ? "The call did not end within \((options.wholeDeadline ?? .zero).text)." : reason
        return NetworkError(.timedOut, in: step, detail, sending: sending)
    }

    /// Waits until the continuation is resumed, the deadline passes, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - enter: Stores the continuation and returns `nil`. If no wait is necessary, returns the end of the wait
    ///     instead.
    ///   - leave: Called when the deadline passes or the task is cancelled, on any thread, before, during or after
    ///     `enter`. It must resume the continuation with the passed end if the continuation is still stored.
    func wait(
        enter: (CheckedContinuation<WaitEnd, Never>) -> WaitEnd?, leave: @escaping @Sendable (WaitEnd) -> Void
    ) async -> WaitEnd {
        await withDeadlineHandler {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if let end = enter(continuation) { continuation.resume(returning: end) }
                    // A `leave` before the continuation was stored had nothing to resume, so the conditions are checked
                    // again.
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
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
