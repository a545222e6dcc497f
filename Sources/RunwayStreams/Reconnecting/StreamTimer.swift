package import Runway

/// Wakes a driver or a conversation at the deadline of its machine.
///
/// A clock may wake early, so that the machine still has the same deadline. ``wait(for:)`` does nothing for the
/// deadline of the present wait: a driver that was woken calls ``expire()`` before it waits again.
package struct StreamTimer {
    private let clock: LayerClock
    private let wake: @Sendable () -> Void
    private var waiting: (deadline: Duration, task: StreamTask)?

    package init(_ clock: LayerClock, wake: @escaping @Sendable () -> Void) { (self.clock, self.wake) = (clock, wake) }

    /// Waits for a deadline instead of the one before; `nil` ends the wait.
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

    /// Ends the wait, so that the next one begins anew even if it is for the same deadline.
    package mutating func expire() { waiting = nil }
}
