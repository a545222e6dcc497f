import struct Foundation.Date

/// The age of a response compared with the lifetime that its policy allows.
enum Freshness: Equatable {
    case fresh(age: Duration)
    case stale(by: Duration)
}

extension CachePolicy {
    /// Limits a lifetime to a hundred years, so that it is finite. A negative lifetime becomes zero.
    private static func bounded(_ lifetime: Duration) -> Duration {
        min(max(lifetime, .zero), .seconds(Int64(100) * 365 * 86_400))
    }

    /// Returns the freshness of a response in memory. `now` is a time on the layer's clock.
    ///
    /// A response from disk is fresh in memory for at most the longer of the two lifetimes, counted from its receipt.
    func freshness(of cached: TimeToLiveResponse, at now: Duration) -> Freshness {
        let age = max(now - cached.fetched, .zero)
        if rule == .untilEvicted { return .fresh(age: age) }
        let lifetime = Self.bounded(memoryLifetime)
        let excess = max(now - cached.entered - lifetime, age - max(lifetime, Self.bounded(diskLifetime)))
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// Returns the freshness of a response on disk. `age` is measured on the wall clock; `nil` if it is unknown.
    ///
    /// The age is unknown if the wall clock was set back or the date is invalid. The response then counts as stale
    /// since this moment.
    func freshness(onDisk age: Duration?) -> Freshness {
        if rule == .untilEvicted { return .fresh(age: age ?? .zero) }
        guard let age else { return .stale(by: .zero) }
        let excess = age - Self.bounded(diskLifetime)
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// Whether a call may land twice, with a stale and with a fresh response.
    var mayLandTwice: Bool { rule == .http || staleWhileRevalidate > .zero }

    /// Returns whether a stale response may land while a fresh one is fetched. `staleBy` is the time for which it has
    /// been stale.
    func allowsWhileRevalidating(staleBy: Duration) -> Bool { staleBy < Self.bounded(staleWhileRevalidate) }

    /// Returns whether a stale response may land if no fresh one is available. `staleBy` is the time for which it has
    /// been stale.
    func allowsOnError(staleBy: Duration) -> Bool { staleBy < Self.bounded(staleIfError) }
}

extension Date {
    /// Returns the time from this date to `now`, or `nil` if the date is later than `now` or invalid.
    func age(at now: Date) -> Duration? {
        let seconds = now.timeIntervalSince(self)
        // Ages are limited to a thousand years, so that no clock overflows.
        return seconds >= 0 ? .seconds(min(seconds, 1000.0 * 365 * 86_400)) : nil
    }
}
