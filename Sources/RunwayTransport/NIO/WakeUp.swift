import NIOCore

/// One timer for all time-outs of a connection: it fires at the earliest instant that was set, or before, and its
/// handler finds out which time-outs have passed and sets it again.
///
/// A timer for each exchange would cost more than the rest of a small exchange.
final class WakeUp {
    private let eventLoop: any EventLoop
    private var timer: (instant: NIODeadline, task: Scheduled<Void>)?
    /// Called on the loop; ``stop()`` releases it.
    var handler: (() -> Void)?

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Fires at this instant or before.
    func set(_ instant: NIODeadline) {
        guard handler != nil else { return }
        if let timer, timer.instant <= instant { return }
        timer?.task.cancel()
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: instant) {
            self.timer = nil
            self.handler?()
        }
        timer = (instant, task)
    }

    /// Prevents the timer from firing.
    func stop() {
        timer?.task.cancel()
        timer = nil
        handler = nil
    }
}
