import HTTPTypes

import struct Foundation.Date

/// A response that is stored under the key of a call, as the disk tier stores it.
struct CallRecord {
    private static var version: UInt64 { 1 }

    /// Status and header fields.
    let head: HTTPResponse
    let body: [UInt8]
    /// The date at which the response was received.
    let date: Date

    /// Reads an entry; `nil` if it is malformed, or of another version of this package.
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
        // The cookie jar has the cookies, and they must not be written to disk: a cookie may authenticate.
        var head = response.rawData.response
        head.headerFields[.setCookie] = nil
        writer.write(head)
        return CacheTierEntry(metadata: writer.bytes, body: response.rawData.bytes, kind: response.key.kind)
    }
}
