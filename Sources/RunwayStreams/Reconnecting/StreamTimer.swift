package import Runway

/// Wakes a driver or a conversation at the deadline of its state machine.
///
/// A clock may wake too early, and the machine then has the same deadline again. ``wait(for:)`` ignores a deadline that
/// it already waits for, so a driver has to call ``expire()`` after it was woken.
package struct StreamTimer {
    private let clock: LayerClock
    private let wake: @Sendable () -> Void
    private var waiting: (deadline: Duration, task: StreamTask)?

    package init(_ clock: LayerClock, wake: @escaping @Sendable () -> Void) { (self.clock, self.wake) = (clock, wake) }

    /// Waits for a deadline instead of the previous one; `nil` ends the wait.
    package mutating func wait(for deadline: Duration?) {
        if waiting?.deadline == deadline { return }
        waiting = deadline.map { deadline in
            let task = Task { [clock, wake] in
                do { try await clock.sleep(until: deadline) } catch { return }
                wake()
            }
            return (deadline, StreamTask(task))
        }
    }

    /// Forgets the deadline, so that the next wait starts again even for an equal deadline.
    package mutating func expire() { waiting = nil }
}
