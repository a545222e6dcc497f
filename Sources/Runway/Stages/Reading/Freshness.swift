import struct Foundation.Date

/// How an answer's age compares with what its policy allows.
enum Freshness: Equatable {
    /// It may land as it is.
    case fresh(age: Duration)
    /// Its lifetime was over so long ago.
    case stale(by: Duration)
}

extension CachePolicy {
    /// The longest lifetime that is told from eternity: a hundred years. A negative one is none.
    private static func bounded(_ lifetime: Duration) -> Duration {
        min(max(lifetime, .zero), .seconds(100 * 365 * 86_400))
    }

    /// How fresh an answer in memory is, at an instant of the layer's clock.
    ///
    /// What came from disk is fresh in memory for no longer than the longer of the two lifetimes in all.
    func freshness(of kept: CachedResponse, at now: Duration) -> Freshness {
        let age = max(now - kept.fetched, .zero)
        if rule == .untilEvicted { return .fresh(age: age) }
        let lifetime = Self.bounded(memoryLifetime)
        let excess = max(now - kept.entered - lifetime, age - max(lifetime, Self.bounded(diskLifetime)))
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// How fresh an answer on disk is that is so old by the wall clock; `nil` is an age that can't be told.
    ///
    /// A wall clock that was set back, or a date that is none, makes an answer stale, by nothing.
    func freshness(onDisk age: Duration?) -> Freshness {
        if rule == .untilEvicted { return .fresh(age: age ?? .zero) }
        guard let age else { return .stale(by: .zero) }
        let excess = age - Self.bounded(diskLifetime)
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// Whether a call may land twice: with a stale answer, and with the fresh one.
    var mayLandTwice: Bool { rule == .http || staleWhileRevalidate > .zero }

    /// Whether an answer that is stale by this much may land while a fresh one is fetched.
    func allowsWhileRevalidating(staleBy: Duration) -> Bool { staleBy < Self.bounded(staleWhileRevalidate) }

    /// Whether an answer that is stale by this much may land where no fresh one can be had.
    func allowsOnError(staleBy: Duration) -> Bool { staleBy < Self.bounded(staleIfError) }
}

extension Date {
    /// How long before `now` this date was; `nil` where it is later than `now` or no date at all.
    func age(at now: Date) -> Duration? {
        let seconds = now.timeIntervalSince(self)
        // Past a thousand years nothing is told apart, and no clock overflows.
        return seconds >= 0 ? .seconds(min(seconds, 1000 * 365 * 86_400)) : nil
    }
}
