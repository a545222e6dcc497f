import Synchronization

/// Reports the progress of a transfer, at most ten times a second.
final class ProgressReporter: Sendable {
    /// Receives the progress on any thread. It must return soon, because the transfer waits for it.
    typealias Receiver = @Sendable (TransferProgress) -> Void

    /// The minimum time between two reports.
    static let interval = Duration.milliseconds(100)

    private let clock: LayerClock
    private let onProgress: Receiver
    /// Guards the last report and its time.
    private let last = Mutex<(progress: TransferProgress, instant: Duration)?>(nil)

    /// Returns `nil` if there is no receiver.
    init?(_ report: Receiver?, _ clock: LayerClock) {
        guard let report else { return nil }
        onProgress = report
        self.clock = clock
    }

    /// Reports the progress, unless the last report was made less than ``interval`` ago.
    ///
    /// - Parameter isUrgent: Whether the interval is ignored: at the start, at the end, and when the transfer restarts.
    func report(_ completed: Int, of total: Int?, isUrgent: Bool = false) {
        let progress = TransferProgress(completedByteCount: completed, totalByteCount: total)
        let now = clock.now
        let isDue = last.withLock { last in
            if let last, last.progress == progress || (!isUrgent && now - last.instant < Self.interval) { return false }
            last = (progress, now)
            return true
        }
        if isDue { onProgress(progress) }
    }
}
