import HTTPTypes

import struct Foundation.Date

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
