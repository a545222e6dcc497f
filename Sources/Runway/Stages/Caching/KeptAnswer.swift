import HTTPTypes

import struct Foundation.Date

/// An answer as memory holds it: fine to its service, accepted by its endpoint, and shared by all who are given it.
///
/// Its bytes are never copied, and the index of a JSON body is made once for all of them.
final class KeptAnswer: Sendable {
    /// What it is kept under.
    let key: CacheKey
    /// Head and body.
    let rawData: RawData
    /// The order of the request that fetched it; 0 for one that an earlier launch fetched.
    let order: UInt64
    /// When it came from the server, on the layer's clock; before its start for what an earlier launch fetched.
    let fetched: Duration
    /// When it came into memory, on the layer's clock.
    let entered: Duration
    /// The date at which it came from the server.
    let date: Date
    /// Whether redirects led to it, so that its validators are those of another target.
    let isRedirected: Bool
    /// About how many bytes it takes.
    let byteCount: Int

    init(
        _ rawData: RawData, for key: CacheKey, order: UInt64, fetched: Duration, entered: Duration, date: Date,
        isRedirected: Bool = false
    ) {
        self.key = key
        self.rawData = rawData
        self.order = order
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

    /// What every answer takes beside its texts and bytes.
    private static var fixedByteCount: Int { 512 }

    /// The answer as it lands.
    func response(from source: AnswerSource) -> Response {
        var response = Response(head: rawData.response, body: .whole(rawData))
        response.source = source
        // Only what the service judged fine is stored.
        response.verdict = .fine
        return response
    }
}
