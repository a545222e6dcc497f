/// A time of the wall clock in whole seconds since 1970, as in signatures (RFC 9421 §2.3).
public struct UnixTime: Sendable, Hashable, Comparable {
    /// The seconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let seconds: Int64

    /// - Parameter seconds: The seconds since 1970. Clamped to 15 digits, the maximum of a structured field.
    public init(seconds: Int64) { self.seconds = Self.clamped(seconds) }

    /// Returns the time that is later by a duration, in whole seconds.
    public static func + (time: UnixTime, duration: Duration) -> UnixTime {
        UnixTime(seconds: time.seconds + clamped(duration.components.seconds))
    }

    /// Returns the time that is earlier by a duration, in whole seconds.
    public static func - (time: UnixTime, duration: Duration) -> UnixTime {
        UnixTime(seconds: time.seconds - clamped(duration.components.seconds))
    }

    /// Returns whether the left time is earlier.
    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    private static func clamped(_ seconds: Int64) -> Int64 {
        let maximum: Int64 = 999_999_999_999_999
        return min(max(seconds, -maximum), maximum)
    }
}
