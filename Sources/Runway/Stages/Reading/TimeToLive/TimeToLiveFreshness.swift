import struct Foundation.Date

/// The age of a response compared with the lifetime that its policy allows.
enum Freshness: Equatable {
    /// The response may land without validation.
    case fresh(age: Duration)
    /// The lifetime of the response ended this long ago.
    case stale(by: Duration)
}

extension CachePolicy {
    /// Returns the longest lifetime that is not infinite: a hundred years. A negative one is zero.
    private static func bounded(_ lifetime: Duration) -> Duration {
        min(max(lifetime, .zero), .seconds(Int64(100) * 365 * 86_400))
    }

    /// Returns the freshness of a response in memory, at an instant of the layer's clock.
    ///
    /// A response from disk is fresh in memory for no longer than the longer of the two lifetimes in all.
    func freshness(of cached: TimeToLiveResponse, at now: Duration) -> Freshness {
        let age = max(now - cached.fetched, .zero)
        if rule == .untilEvicted { return .fresh(age: age) }
        let lifetime = Self.bounded(memoryLifetime)
        let excess = max(now - cached.entered - lifetime, age - max(lifetime, Self.bounded(diskLifetime)))
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// Returns the freshness of a response on disk, by its age on the wall clock; `nil` is an unknown age.
    ///
    /// If the wall clock was set back, or the date is invalid, the response is stale by zero.
    func freshness(onDisk age: Duration?) -> Freshness {
        if rule == .untilEvicted { return .fresh(age: age ?? .zero) }
        guard let age else { return .stale(by: .zero) }
        let excess = age - Self.bounded(diskLifetime)
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// Whether a call may land twice: with a stale response, and with the fresh one.
    var mayLandTwice: Bool { rule == .http || staleWhileRevalidate > .zero }

    /// Returns whether a response that is stale by this much may land while a fresh one is fetched.
    func allowsWhileRevalidating(staleBy: Duration) -> Bool { staleBy < Self.bounded(staleWhileRevalidate) }

    /// Returns whether a response that is stale by this much may land if no fresh one is available.
    func allowsOnError(staleBy: Duration) -> Bool { staleBy < Self.bounded(staleIfError) }
}

extension Date {
    /// Returns the time that has passed between this date and `now`; `nil` if the date is later than `now` or invalid.
    func age(at now: Date) -> Duration? {
        let seconds = now.timeIntervalSince(self)
        // Longer ages are limited to a thousand years, so that no clock overflows.
        return seconds >= 0 ? .seconds(min(seconds, 1000.0 * 365 * 86_400)) : nil
    }
}
