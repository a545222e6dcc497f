import HTTPTypes

/// Which of the answers that are kept for a target serve a request (RFC 9111 §4, §4.1).
enum ResponseSelection {
    /// Those that could be given for a request, were they fresh; the one to prefer first.
    ///
    /// The most recent is preferred; where some say on what they depend and some don't, those that do (RFC 9111 §4.1).
    static func candidates(_ answers: [StoredResponse], for request: HTTPRequest) -> [StoredResponse] {
        let range = request.headerFields[.range].flatMap { ByteRange($0) }
        return answers.filter { answer in
            guard answer.method == .get || request.method == .head, answer.vary.matches(request.headerFields) else {
                return false
            }
            switch answer.content {
            case .whole(let rawData):
                guard request.method == .get, let range, answer.head.status == .ok else { return true }
                return answer.servesRanges && range.bytes(of: rawData.bytes.count) != nil
            // A part serves a request that wants no more than it has (RFC 9111 §3.3).
            case .partial(let content):
                guard request.method == .get, let range else { return false }
                return content.content(of: range) != nil
            }
        }.sorted { one, other in
            if one.vary.isEmpty != other.vary.isEmpty { return other.vary.isEmpty }
            return (one.date, one.sequenceNumber) > (other.date, other.sequenceNumber)
        }
    }

    /// The candidates that an answer 304 speaks of (RFC 9111 §4.3.4).
    static func named(by notModified: HTTPFields, among candidates: [StoredResponse]) -> [StoredResponse] {
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
        // It names none: it can only be the one whose validators were sent.
        return candidates.count == 1 ? candidates : []
    }

    /// The candidate that an answer 304 speaks for without naming it: the strong tag of the answer is its weak one.
    ///
    /// So answer servers that weaken the tag of what they code on its way, and have nothing to code in a 304. By the weak comparison,
    /// which the condition asked for (RFC 9110 §13.1.2), the candidate is good; it may be given, but not updated (RFC 9111 §4.3.4).
    static func confirmed(by notModified: HTTPFields, among candidates: [StoredResponse]) -> StoredResponse? {
        guard let tag = notModified[.eTag].flatMap({ EntityTag($0) }), !tag.isWeak else { return nil }
        let alike = candidates.filter { $0.entityTag.map(tag.matchesWeakly) ?? false }
        return alike.count == 1 ? alike[0] : nil
    }
}
