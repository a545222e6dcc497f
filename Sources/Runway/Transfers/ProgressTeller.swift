import Synchronization

/// Tells how far a transfer is, no more often than is of use to a person.
final class ProgressTeller: Sendable {
    /// The least time between two reports.
    static let interval = Duration.milliseconds(100)

    private let clock: LayerClock
    private let report: TransferProgress.Report
    /// Guards what was told last, and when.
    private let last = Mutex<(progress: TransferProgress, instant: Duration)?>(nil)

    /// `nil` where nobody wants to know.
    init?(_ report: TransferProgress.Report?, _ clock: LayerClock) {
        guard let report else { return nil }
        self.report = report
        self.clock = clock
    }

    /// Tells it, unless something was told just now.
    ///
    /// - Parameter isUrgent: Whether it is told in any case: at the beginning, at the end, and where the transfer starts over.
    func tell(_ completed: Int, of total: Int?, isUrgent: Bool = false) {
        let progress = TransferProgress(completedByteCount: completed, totalByteCount: total)
        let now = clock.now
        let isDue = last.withLock { last in
            if let last, last.progress == progress || (!isUrgent && now - last.instant < Self.interval) { return false }
            last = (progress, now)
            return true
        }
        if isDue { report(progress) }
    }
}
