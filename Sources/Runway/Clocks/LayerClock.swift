public import struct Foundation.Date

/// The two clocks of a network layer: a monotonic clock for waits and durations, and a wall clock for dates.
///
/// They are separate because a person or a time server may change the wall clock at any time, and no wait may depend on
/// that. A time on the monotonic clock is a `Duration` since this value was created.
///
/// ```swift
/// let clock = LayerClock(ContinuousClock(), wall: { Date.now.addingTimeInterval(serverOffset) })
/// let network = NetworkLayer(transport: transport, clock: clock)
/// ```
public struct LayerClock: Sendable {
    /// A hundred years. The sleep functions of some systems trap if a wait is much longer.
    private static let longestWait = Duration.seconds(3_155_760_000 as Int64)

    /// The time on the monotonic clock, counted from the creation of this clock.
    public var now: Duration { source.readMonotonic() }

    /// The current date and time of day, on the wall clock.
    public var date: Date { source.readWall() }

    /// The time on both clocks at one moment.
    struct Reading {
        let now: Duration
        let date: Date
    }

    var reading: Reading { Reading(now: now, date: date) }

    /// The closures are in one object, so that a copy of the clock retains only one reference. Every reading of the
    /// time copies the clock.
    private let source: Source

    private final class Source: Sendable {
        let readMonotonic: @Sendable () -> Duration
        let readWall: @Sendable () -> Date
        let suspend: @Sendable (Duration) async throws -> Void

        init<C: Clock>(_ clock: C, _ wall: @escaping @Sendable () -> Date) where C.Duration == Duration {
            let origin = clock.now
            readMonotonic = { origin.duration(to: clock.now) }
            readWall = wall
            suspend = { try await clock.sleep(until: origin.advanced(by: min($0, longestWait)), tolerance: nil) }
        }
    }

    /// The system's clocks: `ContinuousClock`, which continues while the device sleeps, and `Date`.
    public static var system: LayerClock { LayerClock(ContinuousClock()) }

    /// Creates a clock from any Swift clock, for example one that a test advances.
    ///
    /// - Parameters:
    ///   - clock: The monotonic clock.
    ///   - wall: Returns the current date. The default reads the system's date.
    public init<C: Clock>(_ clock: C, wall: @escaping @Sendable () -> Date = { Date() }) where C.Duration == Duration {
        source = Source(clock, wall)
    }

    /// Waits until `instant`, counted from the creation of this clock, but for at most a hundred years.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled.
    public func sleep(until instant: Duration) async throws {
        try await source.suspend(instant)
    }
}

extension Duration {
    /// The duration in seconds, including the fraction.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
