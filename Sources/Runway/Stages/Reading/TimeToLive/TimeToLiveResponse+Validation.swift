import HTTPTypes

import struct Foundation.Date

/// Validates a stored response (RFC 9110 §13). If the resource has not changed, the server responds only with a 304.
extension TimeToLiveResponse {
    /// A stored response, and the conditional request that validates it.
    struct Validation {
        let stored: TimeToLiveResponse
        let request: Request
    }

    /// Returns the request with the validators of this response, or `nil` if the response has no validators to send.
    ///
    /// If the request already has preconditions or a range, it is not changed, because the response to such a request
    /// depends on them.
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

    /// Returns whether a 304 can refer to this response. This is the case unless the 304 names another response (RFC
    /// 9111 §4.3.4).
    func matches(notModified: HTTPFields) -> Bool {
        if let own = entityTag, let tag = notModified[.eTag].flatMap({ EntityTag($0) }) {
            // The condition is evaluated by weak comparison, and some servers weaken the tag of a compressed response.
            return tag.matchesWeakly(own)
        }
        if let own = lastModified, let modified = notModified[.lastModified] { return modified == own }
        return true
    }

    /// Returns this response with the header fields of a 304 and a new time of receipt.
    func renewed(by notModified: HTTPResponse, sequenceNumber: UInt64, at now: Duration, date: Date)
        -> TimeToLiveResponse
    {
        var head = rawData.response
        head.headerFields.update(from: notModified.headerFields)
        return TimeToLiveResponse(
            rawData.with(response: head), for: key, sequenceNumber: sequenceNumber, fetched: now, entered: now,
            date: date)
    }

    /// The entity tag of the response; `nil` if there are no or several `ETag` fields.
    private var entityTag: EntityTag? {
        let values = rawData.response.headerFields[values: .eTag]
        return values.count == 1 ? EntityTag(values[0]) : nil
    }

    /// The value of `Last-Modified` as sent; `nil` if there are no or several such fields.
    private var lastModified: String? {
        let values = rawData.response.headerFields[values: .lastModified]
        return values.count == 1 ? values[0] : nil
    }
}

extension HTTPField.Name {
    /// The request fields that make the response specific to the request (RFC 9110 §13.1, §14.2).
    fileprivate static var ownConditions: [HTTPField.Name] {
        [.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range]
    }
}
