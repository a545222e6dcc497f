import HTTPTypes

/// Selects stored responses of a target for a request (RFC 9111 §4, §4.1).
enum ResponseSelection {
    /// Returns the responses that match a request, even if they are stale. The preferred response comes first.
    ///
    /// The most recent response is preferred. If only some responses have `Vary`, these are preferred (RFC 9111 §4.1).
    static func candidates(_ responses: [HTTPStoredResponse], for request: HTTPRequest) -> [HTTPStoredResponse] {
        let range = request.headerFields[.range].flatMap { ByteRange($0) }
        // Responses from disk have no sequence numbers. The order is reversed so that, of two responses with equal
        // dates, the later stored one is preferred.
        return responses.reversed().filter { response in
            guard response.method == .get || request.method == .head, response.vary.matches(request.headerFields) else {
                return false
            }
            switch response.content {
            case .whole(let rawData):
                guard request.method == .get, let range, response.head.status == .ok else { return true }
                return response.servesRanges && range.bytes(of: rawData.bytes.count) != nil
            // A partial response can be used only for the bytes that it contains (RFC 9111 §3.3).
            case .partial(let content):
                guard request.method == .get, let range else { return false }
                return content.content(of: range) != nil
            }
        }.sorted { one, other in
            if one.vary.isEmpty != other.vary.isEmpty { return other.vary.isEmpty }
            return (one.date, one.sequenceNumber) > (other.date, other.sequenceNumber)
        }
    }

    /// Returns the candidates that a 304 selects (RFC 9111 §4.3.4).
    static func named(by notModified: HTTPFields, among candidates: [HTTPStoredResponse]) -> [HTTPStoredResponse] {
        let tag = notModified[.eTag].flatMap { EntityTag($0) }
        if let tag, !tag.isWeak {
            return candidates.filter { $0.entityTag.map(tag.matchesStrongly) ?? false }
        }
        if let tag {
            return Array(candidates.filter { $0.entityTag.map(tag.matchesWeakly) ?? false }.prefix(1))
        }
        if let modified = notModified[.lastModified] {
            return Array(candidates.filter { $0.lastModified == modified }.prefix(1))
        }
        // Without an entity tag, the 304 can only refer to the candidate whose validators were sent.
        return candidates.count == 1 ? candidates : []
    }

    /// Returns the candidate that a 304 confirms by weak comparison: the tag of the 304 is strong, and the candidate
    /// has the same tag as a weak one.
    ///
    /// Some servers weaken the tag of a compressed response, but a 304 has no content to compress. The condition
    /// requires weak comparison (RFC 9110 §13.1.2), so the candidate is valid. It may be returned, but not updated (RFC
    /// 9111 §4.3.4).
    static func confirmed(by notModified: HTTPFields, among candidates: [HTTPStoredResponse]) -> HTTPStoredResponse? {
        guard let tag = notModified[.eTag].flatMap({ EntityTag($0) }), !tag.isWeak else { return nil }
        let alike = candidates.filter { $0.entityTag.map(tag.matchesWeakly) ?? false }
        return alike.count == 1 ? alike[0] : nil
    }
}
