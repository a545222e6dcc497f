/// A clock that stands still until a test moves it.
///
/// Pass it to any parameter of type `any Clock<Duration>`. A task that sleeps on it stays asleep until the test
/// advances the clock to the task's deadline, so a test of an hour's timeout takes microseconds and always ends the
/// same way.
///
/// ```swift
/// let clock = ManualClock()
/// let reminder = Task { try await clock.sleep(for: .seconds(60)) }
/// try await clock.waitForSleepers()      // the task is asleep now
/// clock.advance(by: .seconds(60))        // and awake again
/// try await reminder.value
/// ```
///
/// Advancing sets the time at once and wakes all sleepers that are due, those with the earliest deadline
/// first. Woken tasks run when the system schedules them, and all of them read the new time. To follow code that
/// sleeps again and again, call ``waitForSleepers(count:within:)`` before each step.
///
/// A clock can be used from any thread.
public final class ManualClock: Clock {
    /// A moment on a manual clock, counted from the clock's making.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time between the clock's making and this moment.
        public var offset: Duration

        /// Names the instant `offset` after the clock's creation. The default is the creation itself.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// Returns the moment `duration` after this one.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this moment to `other`, negative when `other` is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether `lhs` is earlier than `rhs`.
        public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }

        /// The offset, as `+2.5 seconds`.
        public var description: String { "+\(offset)" }
    }

    private let time: AwaitedValue<Instant>
    private let sleepers = AwaitedValue(0)

    /// Stops the time at `now` until the test advances it. The default is offset zero.
    public init(now: Instant = Instant()) {
        self.time = AwaitedValue(now, audience: sleepers)
    }

    /// The instant at which the clock stands.
    public var now: Instant { time.value }

    /// Zero: the clock wakes a sleeper exactly when it is advanced to the deadline.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { time.waiterCount }

    /// The earliest moment that a task sleeps for, or nil when none is asleep.
    ///
    /// A test can read a backoff here: `clock.now.duration(to: clock.nextDeadline!)`.
    public var nextDeadline: Instant? { time.lowestMark }

    /// Moves the clock forward and wakes the sleepers that are due.
    ///
    /// A negative duration does nothing.
    public func advance(by duration: Duration) {
        time.update { $0 = max($0, $0.advanced(by: duration)) }
    }

    /// Moves the clock forward to `instant` and wakes the sleepers that are due.
    ///
    /// An instant in the past does nothing.
    public func advance(to instant: Instant) {
        time.update { $0 = max($0, instant) }
    }

    /// Sleeps until the test has moved the clock to `deadline`; returns at once when it is there already.
    ///
    /// `tolerance` is ignored. Throws `CancellationError` when the task is cancelled, asleep or before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await time.wait(until: deadline)
    }

    /// Returns once at least `count` tasks sleep on this clock; default: one.
    ///
    /// Throws ``WaitTimedOut`` after `limit` of real time (default: a minute), and `CancellationError` when the task
    /// is cancelled.
    public func waitForSleepers(count: Int = 1, within limit: Duration = .seconds(60)) async throws {
        try await sleepers.wait(atLeast: count, within: limit, subject: "sleepers")
    }
}
