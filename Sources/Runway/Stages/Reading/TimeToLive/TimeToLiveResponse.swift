import HTTPTypes

import struct Foundation.Date

/// A response that is stored for its time to live, or without a time limit until it is evicted. Its service and its
/// endpoint have accepted it.
///
/// All users share its bytes and, for a JSON body, its index. The index is built only once.
final class TimeToLiveResponse: Sendable {
    let key: CacheKey
    let rawData: RawData
    /// The sequence number of the request; 0 if an earlier launch received the response.
    let sequenceNumber: UInt64
    /// The time of receipt on the layer's clock; negative if an earlier launch received the response.
    let fetched: Duration
    /// The time on the layer's clock at which the response was stored in memory.
    let entered: Duration
    let date: Date
    /// Whether redirects led to the response, so that its validators belong to another target.
    let isRedirected: Bool
    /// The approximate memory that the response occupies, in bytes.
    let byteCount: Int

    init(
        _ rawData: RawData, for key: CacheKey, sequenceNumber: UInt64, fetched: Duration, entered: Duration, date: Date,
        isRedirected: Bool = false
    ) {
        self.key = key
        self.rawData = rawData
        self.sequenceNumber = sequenceNumber
        self.fetched = fetched
        self.entered = entered
        self.date = date
        self.isRedirected = isRedirected
        // The index is built now, because calls that find the response may deliver it on the main actor.
        rawData.index()
        byteCount =
            rawData.bytes.count + rawData.indexByteCount + rawData.response.headerFields.byteCount + key.byteCount
            + Self.fixedByteCount
    }

    /// The number of bytes that every entry occupies in addition to its texts and bytes.
    private static var fixedByteCount: Int { 512 }

    /// Returns the time since the response was received.
    func age(at now: Duration) -> Duration { max(now - fetched, .zero) }

    /// Returns the response for a call. Its verdict is that the service accepted it.
    func response(from source: ResponseSource) -> Response { Response(stored: rawData, from: source) }
}

/// The age of a response compared with the lifetime that its policy allows.
enum Freshness: Equatable {
    /// The response may be delivered without validation.
    case fresh(age: Duration)
    /// The lifetime of the response ended this long ago.
    case stale(by: Duration)
}

extension CachePolicy {
    /// Returns the lifetime, limited to the range from zero to a hundred years.
    private static func bounded(_ lifetime: Duration) -> Duration {
        min(max(lifetime, .zero), .seconds(Int64(100) * 365 * 86_400))
    }

    /// Returns the freshness of a response in memory, at an instant of the layer's clock.
    ///
    /// A response that was loaded from disk is fresh until its lifetime in memory has passed since it was loaded, or
    /// until the longer of its two lifetimes has passed since it was received, whichever comes first.
    func freshness(of cached: TimeToLiveResponse, at now: Duration) -> Freshness {
        let age = max(now - cached.fetched, .zero)
        if rule == .untilEvicted { return .fresh(age: age) }
        let lifetime = Self.bounded(memoryLifetime)
        let excess = max(now - cached.entered - lifetime, age - max(lifetime, Self.bounded(diskLifetime)))
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// Returns the freshness of a response on disk, by its age on the wall clock. `age` is `nil` if it is unknown.
    ///
    /// If the wall clock was set back, or the date is invalid, the response counts as stale for zero seconds.
    func freshness(onDisk age: Duration?) -> Freshness {
        if rule == .untilEvicted { return .fresh(age: age ?? .zero) }
        guard let age else { return .stale(by: .zero) }
        let excess = age - Self.bounded(diskLifetime)
        return excess < .zero ? .fresh(age: age) : .stale(by: excess)
    }

    /// Whether a call may deliver two responses: a stale one, and then the fresh one.
    var mayLandTwice: Bool { rule == .http || staleWhileRevalidate > .zero }

    /// Returns whether a response that is stale by this much may be delivered while a fresh one is fetched.
    func allowsWhileRevalidating(staleBy: Duration) -> Bool { staleBy < Self.bounded(staleWhileRevalidate) }

    /// Returns whether a response that is stale by this much may be delivered if no fresh one is available.
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
