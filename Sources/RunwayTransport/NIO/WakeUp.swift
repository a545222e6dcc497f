import NIOCore

/// One timer for all that a connection has to look after: it is set to the earliest instant that was asked for, and whoever is woken
/// looks for himself what is due, and asks again.
///
/// A timer for each exchange would cost more than the rest of a small one.
final class WakeUp {
    private let eventLoop: any EventLoop
    private var timer: (instant: NIODeadline, task: Scheduled<Void>)?
    /// What is called on the loop. It is let go with ``stop()``.
    var handler: (() -> Void)?

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Wakes at this instant or before.
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

    /// Wakes no more.
    func stop() {
        timer?.task.cancel()
        timer = nil
        handler = nil
    }
}
