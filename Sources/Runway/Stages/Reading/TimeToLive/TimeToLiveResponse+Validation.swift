import HTTPTypes

import struct Foundation.Date

/// Validation of a stored response, which costs one 304 if the resource has not changed (RFC 9110 §13).
extension TimeToLiveResponse {
    /// A stored response, and the conditional request that validates it.
    struct Validation {
        let stored: TimeToLiveResponse
        let request: Request
    }

    /// Returns the request with the validators of this response; `nil` if the response has no validators that can be
    /// sent.
    ///
    /// A request that has preconditions or a range of its own is not changed, since its response depends on those.
    func validation(of request: Request) -> Validation? {
        let fields = request.head.headerFields
        guard !isRedirected, rawData.response.status == .ok,
            request.head.method == .get || request.head.method == .head,
            !HTTPField.Name.ownConditions.contains(where: fields.contains)
        else { return nil }
        let (tag, modified) = (entityTag, lastModified)
        if tag == nil, modified == nil { return nil }
        var request = request
        request.callerConditions = fields
        request.head.headerFields[.ifNoneMatch] = tag?.text
        request.head.headerFields[.ifModifiedSince] = modified
        return Validation(stored: self, request: request)
    }

    /// Returns whether a 304 can refer to this response: it names no other (RFC 9111 §4.3.4).
    func matches(notModified: HTTPFields) -> Bool {
        if let own = entityTag, let tag = notModified[.eTag].flatMap({ EntityTag($0) }) {
            // The condition is evaluated by weak comparison, and some servers weaken the tag of a compressed response.
            return tag.matchesWeakly(own)
        }
        if let own = lastModified, let modified = notModified[.lastModified] { return modified == own }
        return true
    }

    /// Returns this response after a 304: received now, and with the header fields of the 304.
    func renewed(by notModified: HTTPResponse, sequenceNumber: UInt64, at now: Duration, date: Date)
        -> TimeToLiveResponse
    {
        var head = rawData.response
        head.headerFields.update(from: notModified.headerFields)
        return TimeToLiveResponse(
            rawData.with(response: head), for: key, sequenceNumber: sequenceNumber, fetched: now, entered: now,
            date: date)
    }

    /// The entity tag of the response; `nil` if there is no `ETag` or more than one.
    private var entityTag: EntityTag? {
        let values = rawData.response.headerFields[values: .eTag]
        return values.count == 1 ? EntityTag(values[0]) : nil
    }

    /// The value of `Last-Modified`, as it was sent; `nil` if there is none or more than one.
    private var lastModified: String? {
        let values = rawData.response.headerFields[values: .lastModified]
        return values.count == 1 ? values[0] : nil
    }
}

extension HTTPField.Name {
    /// The fields that make a response specific to its request (RFC 9110 §13.1, §14.2).
    fileprivate static var ownConditions: [HTTPField.Name] {
        [.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range]
    }
}
