import NIOCore

/// One timer for all timeouts of a connection. It fires at or before the earliest instant that was set. Its handler
/// checks which timeouts have passed, and sets the timer again.
///
/// A timer per exchange would cost more than the rest of a small exchange.
final class WakeUp {
    private let eventLoop: any EventLoop
    private var timer: (instant: NIODeadline, task: Scheduled<Void>)?
    /// Called on the event loop when the timer fires. ``stop()`` releases it.
    var handler: (() -> Void)?

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Makes the timer fire at or before an instant.
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

    func stop() {
        timer?.task.cancel()
        timer = nil
        handler = nil
    }
}
