import Runway

/// Wakes a driver at the deadline of its machine.
///
/// A clock may wake early. The machine then has the same deadline as before: a driver that was woken calls ``expire()`` before it waits
/// again.
struct StreamTimer {
    private let clock: LayerClock
    private let wake: @Sendable () -> Void
    private var waiting: (deadline: Duration, task: StreamTask)?

    init(_ clock: LayerClock, wake: @escaping @Sendable () -> Void) { (self.clock, self.wake) = (clock, wake) }

    /// Waits for a deadline, and no longer for the one before; `nil` ends the wait.
    mutating func wait(for deadline: Duration?) {
        if waiting?.deadline == deadline { return }
        waiting = deadline.map { deadline in
            let task = Task { [clock, wake] in
                do { try await clock.sleep(until: deadline) } catch { return }
                wake()
            }
            return (deadline, StreamTask(task))
        }
    }

    /// The driver was woken: a wait for the same deadline begins anew.
    mutating func expire() { waiting = nil }
}
