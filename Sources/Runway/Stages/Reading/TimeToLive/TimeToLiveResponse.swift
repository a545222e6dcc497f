import HTTPTypes
import Synchronization

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

/// Responses stored under the key of a call, by a time to live or until evicted.
extension ResponseCache {
    /// Returns the response stored in memory, and the change count of the cache. The response becomes the most recently
    /// used. With the count the call later checks whether the response has changed.
    func lookUp(_ key: CacheKey) -> (response: TimeToLiveResponse?, changes: UInt64) {
        state.withLock { ($0.entries.value(for: key), $0.entries.changeCount) }
    }

    /// The outcome of storing a response.
    enum Storing: Equatable {
        case stored
        /// A newer response is stored, or the response's scope was cleared after its call started.
        case outdated
        /// The response is larger than the limit of the whole memory cache.
        case tooLarge
    }

    /// Stores a response in the given tiers.
    ///
    /// - Parameter start: The value of ``lastSequenceNumber`` when the call started.
    func store(_ response: TimeToLiveResponse, from start: UInt64, in tiers: CacheTiers) -> Storing {
        let key = response.key
        let isOnDisk = tiers.contains(.disk) && tier != nil && key.isPersistable
        let (storing, replaced) = state.withLock { state -> (Storing, TimeToLiveResponse?) in
            let former = state.entries.peek(key)
            guard state.generations.allows(key, response.sequenceNumber, from: start),
                former?.sequenceNumber ?? 0 <= response.sequenceNumber
            else { return (.outdated, nil) }
            // Memory may evict this response before an older, slower request has received its response. That response
            // must be refused even then.
            state.generations.replace(key, by: response.sequenceNumber)
            if tiers.contains(.memory) {
                state.entries.insert(response, for: key, of: key.kind, byteCount: response.byteCount)
            } else {
                state.entries.remove(key)
            }
            let isInMemory = state.entries.peek(key) === response
            if isOnDisk { state.writeBehind.add(.store(.call(response))) }
            // A shared response is stored by each of the calls that share it.
            let replaced = former.flatMap { $0.sequenceNumber < response.sequenceNumber ? $0 : nil }
            return (isInMemory || isOnDisk ? .stored : .tooLarge, replaced)
        }
        if let replaced {
            usage.count(
                at: response.fetched - replaced.fetched, isChanged: replaced.rawData.bytes != response.rawData.bytes,
                of: key.endpointType)
        }
        if isOnDisk { startWriteBehind() }
        return storing
    }

    /// Stores a response from disk in memory. Does nothing if memory contains a newer response, or if the response was
    /// cleared since the call started.
    func promote(_ response: TimeToLiveResponse, from start: UInt64) {
        state.withLock { state in
            guard state.generations.allows(response.key, start, from: start),
                state.entries.peek(response.key).map({ $0.fetched <= response.fetched }) ?? true
            else { return }
            state.entries.insert(
                response, for: response.key, of: response.key.kind, byteCount: response.byteCount)
        }
    }

    /// Removes a rejected response, unless another has replaced it.
    func remove(_ rejected: TimeToLiveResponse) {
        state.withLock { state in
            if state.entries.peek(rejected.key).map({ $0.sequenceNumber > rejected.sequenceNumber }) ?? false { return }
            state.entries.remove(rejected.key)
            if tier != nil, rejected.key.isPersistable { state.writeBehind.add(.remove(.call(rejected.key))) }
        }
        startWriteBehind()
    }
}

/// A response stored under the key of a call, in the form that the disk tier stores.
struct CallRecord {
    private static var version: UInt64 { 1 }

    let head: HTTPResponse
    let body: [UInt8]
    let date: Date

    /// Reads an entry of the disk tier. Returns `nil` if the entry is malformed or was written by another version of
    /// this package.
    init?(_ entry: CacheTierEntry) {
        var reader = TierRecordReader(entry.metadata)
        guard reader.number() == Self.version, let date = reader.number(), let head = reader.head(), reader.isAtEnd
        else {
            return nil
        }
        self.head = head
        self.date = Date(timeIntervalSince1970: Double(bitPattern: date))
        body = entry.body
    }

    static func entry(_ response: TimeToLiveResponse) -> CacheTierEntry {
        var writer = TierRecordWriter()
        writer.write(version)
        writer.write(response.date.timeIntervalSince1970.bitPattern)
        // Cookies must not be written to disk, because they may authenticate. The cookie jar already has them.
        var head = response.rawData.response
        head.headerFields[.setCookie] = nil
        writer.write(head)
        return CacheTierEntry(metadata: writer.bytes, body: response.rawData.bytes, kind: response.key.kind)
    }
}
