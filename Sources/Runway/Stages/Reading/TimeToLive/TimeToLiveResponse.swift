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
        // The index is built now, because calls that find the response may land it on the main actor.
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
