import HTTPTypes

import struct Foundation.Date

/// A response stored by a time to live or until evicted: its service judged it fine, and its endpoint accepted it.
///
/// The bytes of the response are never copied, and the index of a JSON body is built once for all callers.
final class TimeToLiveResponse: Sendable {
    let key: CacheKey
    /// Head and body.
    let rawData: RawData
    /// The number of the request that fetched it; 0 if an earlier launch did.
    let sequenceNumber: UInt64
    /// The time at which the response was received, on the layer's clock; before the clock's start if an earlier launch
    /// received it.
    let fetched: Duration
    /// The time at which the response entered memory, on the layer's clock.
    let entered: Duration
    /// The date at which the response was received.
    let date: Date
    /// Whether redirects led to the response, so that its validators are those of another target.
    let isRedirected: Bool
    /// The approximate number of bytes that the response occupies.
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
        // Calls that find it may land it on the main actor.
        rawData.index()
        byteCount =
            rawData.bytes.count + rawData.indexByteCount + rawData.response.headerFields.byteCount + key.byteCount
            + Self.fixedByteCount
    }

    /// The number of bytes that every entry occupies in addition to its texts and bytes.
    private static var fixedByteCount: Int { 512 }

    /// Returns the time that has passed since the response was received.
    func age(at now: Duration) -> Duration { max(now - fetched, .zero) }

    /// Returns the response to a call. Only responses that the service accepted are stored.
    func response(from source: ResponseSource) -> Response { Response(stored: rawData, from: source) }
}
