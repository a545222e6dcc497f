import HTTPTypes

import struct Foundation.Date

/// What the validators of a kept answer are for: a re-read of what did not change costs one 304 (RFC 9110 §13).
extension KeptAnswer {
    /// A kept answer, and the request that asks whether it is still good.
    struct Validation {
        let kept: KeptAnswer
        let request: Request
    }

    /// The request for the same, with the validators of this answer; `nil` where it has none that can be sent.
    ///
    /// A request that has conditions or a range of its own stays as it is: its answer is an answer to those.
    func validation(of request: Request) -> Validation? {
        let fields = request.head.headerFields
        guard !isRedirected, rawData.response.status == .ok,
            request.head.method == .get || request.head.method == .head,
            !HTTPField.Name.ownConditions.contains(where: fields.contains)
        else { return nil }
        let (tag, modified) = (entityTag, lastModified)
        if tag == nil, modified == nil { return nil }
        var request = request
        request.ownConditions = fields
        request.head.headerFields[.ifNoneMatch] = tag?.text
        request.head.headerFields[.ifModifiedSince] = modified
        return Validation(kept: self, request: request)
    }

    /// Whether an answer 304 can be about this one: it names no other (RFC 9111 §4.3.4).
    func isMeant(by notModified: HTTPFields) -> Bool {
        if let own = entityTag, let tag = notModified[.eTag].flatMap({ EntityTag($0) }) {
            // By the weak comparison, which is that of the condition: some servers weaken the tag of what they compress.
            return tag.matchesWeakly(own)
        }
        if let own = lastModified, let modified = notModified[.lastModified] { return modified == own }
        return true
    }

    /// This answer after the server said that it is still good: as one that came just now, with the header fields of the 304.
    func renewed(by notModified: HTTPResponse, order: UInt64, at now: Duration, date: Date) -> KeptAnswer {
        var head = rawData.response
        head.headerFields.update(from: notModified.headerFields)
        return KeptAnswer(
            rawData.with(response: head), for: key, order: order, fetched: now, entered: now, date: date)
    }

    /// What its `ETag` says; `nil` also where it says several things.
    private var entityTag: EntityTag? {
        let values = rawData.response.headerFields[values: .eTag]
        return values.count == 1 ? EntityTag(values[0]) : nil
    }

    /// Its `Last-Modified`, as it was sent; `nil` also where it says several things.
    private var lastModified: String? {
        let values = rawData.response.headerFields[values: .lastModified]
        return values.count == 1 ? values[0] : nil
    }
}

extension HTTPField.Name {
    /// What makes an answer one to this request alone (RFC 9110 §13.1, §14.2).
    fileprivate static var ownConditions: [HTTPField.Name] {
        [.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range]
    }
}
