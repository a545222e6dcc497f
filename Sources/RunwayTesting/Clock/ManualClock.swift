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
/// Advancing sets the time at once. It wakes all sleepers that are due, those with the earliest deadline first. Woken
/// tasks run when the system schedules them, and all of them read the new time. To test code that sleeps again and
/// again, call ``waitForSleepers(count:within:)`` before each step.
///
/// A clock can be used from any thread.
public final class ManualClock: Clock {
    /// An instant of a manual clock, relative to the clock's creation.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock's creation.
        public var offset: Duration

        /// Creates an instant. The default is the creation of the clock.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// Returns the instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time until another instant; negative if the other instant is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns whether the first instant is earlier than the second.
        public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }

        /// The offset as a text, such as `+2.5 seconds`.
        public var description: String { "+\(offset)" }
    }

    private let time: AwaitedValue<Instant>
    private let sleepers = AwaitedValue(0)

    /// Creates a clock that stands still at `now` until the test advances it. The default is offset zero.
    public init(now: Instant = Instant()) {
        self.time = AwaitedValue(now, audience: sleepers)
    }

    /// The current instant of the clock.
    public var now: Instant { time.value }

    /// Zero, since the clock wakes a sleeper exactly at its deadline.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { time.waiterCount }

    /// The earliest deadline of the sleeping tasks; `nil` if no task sleeps.
    ///
    /// A test can read a backoff with `clock.now.duration(to: clock.nextDeadline!)`.
    public var nextDeadline: Instant? { time.lowestMark }

    /// Advances the clock, and wakes the sleepers whose deadline is reached. A negative duration does nothing.
    public func advance(by duration: Duration) {
        time.update { $0 = max($0, $0.advanced(by: duration)) }
    }

    /// Advances the clock to `instant`, and wakes the sleepers that are due. An instant in the past does nothing.
    public func advance(to instant: Instant) {
        time.update { $0 = max($0, instant) }
    }

    /// Sleeps until the test has advanced the clock to `deadline`. Returns at once if the deadline has passed.
    ///
    /// `tolerance` is ignored. Throws `CancellationError` if the task is cancelled before or during the sleep.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await time.wait(until: deadline)
    }

    /// Waits until at least `count` tasks sleep on this clock. The default is one.
    ///
    /// Throws an error after `limit` of real time (by default a minute), and `CancellationError`.
    public func waitForSleepers(count: Int = 1, within limit: Duration = .seconds(60)) async throws {
        try await sleepers.wait(atLeast: count, within: limit, subject: "sleepers")
    }
}
