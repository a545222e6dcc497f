package import RunwayTesting
import Synchronization

/// A manual clock that wakes the first sleeper of each deadline a second early.
package final class EarlyClock: Clock {
    package typealias Instant = ManualClock.Instant

    private let base: ManualClock
    /// Guards the deadlines that have had a sleeper.
    private let deadlines = Mutex<Set<ManualClock.Instant>>([])

    package init(_ base: ManualClock) { self.base = base }

    package var now: Instant { base.now }
    package var minimumResolution: Duration { base.minimumResolution }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let isFirst = deadlines.withLock { $0.insert(deadline).inserted }
        try await base.sleep(until: isFirst ? deadline.advanced(by: .seconds(-1)) : deadline)
    }
}

extension ManualClock {
    /// Advances to the next deadline that a task waits for, if it is not after a limit.
    ///
    /// If the limit is before all deadlines of other code, a loop that calls it never outruns the code under test, however late that runs.
    package func advanceToDeadline(upTo limit: Instant) {
        if let deadline = nextDeadline, deadline <= limit { advance(to: deadline) }
    }
}
