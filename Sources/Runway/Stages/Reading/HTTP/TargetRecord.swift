import HTTPTypes

import struct Foundation.Date

/// The responses of one target for one user, as the disk tier stores them: all bodies in sequence, and the data that
/// determine their use.
///
/// The record contains digests of the request fields named by `Vary`, but no request fields.
enum TargetRecord {
    private static var version: UInt64 { 2 }

    /// The data that a reader needs in addition to the record.
    struct Reading {
        let partition: CachePartition
        /// Identifies this launch. Sequence numbers of another launch have no meaning in it.
        let launch: UInt64
        let now: Duration
        let date: Date
    }

    /// Returns whether a record can contain a response.
    static func canHold(_ response: HTTPStoredResponse) -> Bool {
        // The fields that `no-cache` names were removed from the response. Without these fields, a later launch can't
        // decide how to use the response.
        guard case .whole = response.content, response.directives.noCacheFields.isEmpty else { return false }
        return !response.vary.matchesNothing
    }

    static func entry(_ responses: [HTTPStoredResponse], launch: UInt64) -> CacheTierEntry {
        var writer = TierRecordWriter()
        writer.write(version)
        writer.write(launch)
        writer.write(UInt64(responses.count))
        var body: [UInt8] = []
        for response in responses {
            guard case .whole(let rawData) = response.content else {
                preconditionFailure("a record contains whole responses")
            }
            let flags: [Bool] = [
                response.method == .head, response.isSecure, response.isVerbatim, response.isInvalidated,
                response.verdict == .fine,
            ]
            writer.write(flags.reversed().reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
            writer.write(response.sequenceNumber)
            writer.write(UInt64(bitPattern: response.times.receivedDate.seconds))
            writer.write(response.times.requested)
            writer.write(response.times.received)
            writer.write(response.head)
            response.vary.write(to: &writer)
            writer.write(UInt64(rawData.bytes.count))
            if body.isEmpty { body = rawData.bytes } else { body += rawData.bytes }
        }
        return CacheTierEntry(metadata: writer.bytes, body: body, kind: responses.last?.kind ?? .standard)
    }

    /// Reads an entry of the disk tier. Returns `nil` if the entry is malformed or was written by another version of
    /// this package.
    static func responses(of entry: CacheTierEntry, _ reading: Reading) -> [HTTPStoredResponse]? {
        var reader = TierRecordReader(entry.metadata)
        guard reader.number() == version, let launch = reader.number(),
            let count = reader.count(upTo: entry.metadata.count)
        else { return nil }
        var responses: [HTTPStoredResponse] = []
        var offset = 0
        for _ in 0..<count {
            guard
                let response = response(
                    &reader, entry.body, &offset, reading, isFromThisLaunch: launch == reading.launch)
            else { return nil }
            responses.append(response)
        }
        return reader.isAtEnd && offset == entry.body.count ? responses : nil
    }

    private static func response(
        _ reader: inout TierRecordReader, _ body: [UInt8], _ offset: inout Int, _ reading: Reading,
        isFromThisLaunch: Bool
    ) -> HTTPStoredResponse? {
        guard let flags = reader.number(), let sequenceNumber = reader.number(),
            let receivedDate = reader.number().map({ HTTPDate(seconds: Int64(bitPattern: $0)) }),
            let requested = reader.duration(), let received = reader.duration(), let head = reader.head(),
            let vary = VarySelection(&reader),
            let byteCount = reader.count(upTo: body.count - offset)
        else { return nil }
        let bytes = byteCount == body.count ? body : Array(body[offset..<offset + byteCount])
        offset += byteCount
        func has(_ flag: Int) -> Bool { flags >> UInt64(flag) & 1 == 1 }
        // If another launch wrote the record, only the wall clock shows the age. The date of receipt was rounded down,
        // so no response appears younger than it is.
        let age = Date(timeIntervalSince1970: Double(receivedDate.seconds)).age(at: reading.date)
        let end = isFromThisLaunch ? received : reading.now - (age ?? .zero)
        var response = HTTPStoredResponse(
            head, HTTPStoredResponse.Content(RawData(bytes, response: head)),
            to: HTTPRequest(method: has(0) ? .head : .get, scheme: has(1) ? "https" : nil, authority: nil, path: nil),
            in: reading.partition,
            times: ExchangeTimes(
                requested: end - (received - requested), received: end, receivedDate: receivedDate),
            verdict: has(4) ? .fine : Verdict(status: head.status, headerFields: head.headerFields),
            isVerbatim: has(2), sequenceNumber: isFromThisLaunch ? sequenceNumber : 0)
        response.vary = vary
        response.isOnDisk = true
        // If the clock was set back, the age is unknown.
        response.isInvalidated = has(3) || !isFromThisLaunch && age == nil
        return response
    }
}
