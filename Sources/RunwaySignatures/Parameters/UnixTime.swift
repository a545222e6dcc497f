/// A point in time by the wall clock, in whole seconds since 1970, as signatures state it (RFC 9421 §2.3).
public struct UnixTime: Sendable, Hashable, Comparable {
    /// The seconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let seconds: Int64

    /// - Parameter seconds: The seconds since 1970. Beyond 15 digits, which is the most that a structured field can
    /// have, the nearest number with 15 digits is taken.
    public init(seconds: Int64) { self.seconds = Self.clamped(seconds) }

    /// The time that is a duration later, in whole seconds.
    public static func + (time: UnixTime, duration: Duration) -> UnixTime {
        UnixTime(seconds: time.seconds + clamped(duration.components.seconds))
    }

    /// The time that is a duration earlier, in whole seconds.
    public static func - (time: UnixTime, duration: Duration) -> UnixTime {
        UnixTime(seconds: time.seconds - clamped(duration.components.seconds))
    }

    /// Whether the first is earlier.
    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    private static func clamped(_ seconds: Int64) -> Int64 {
        let maximum: Int64 = 999_999_999_999_999
        return min(max(seconds, -maximum), maximum)
    }
}
