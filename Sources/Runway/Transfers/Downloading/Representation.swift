import HTTPTypes

/// One representation of the downloaded resource, as described by the header fields of a response.
struct Representation: Codable, Equatable, Sendable {
    /// The value for `If-Range`, a strong validator (RFC 9110 §13.1.5). `nil` if the server sent none, so that the
    /// download can't be resumed.
    var validator: String?
    /// The size in bytes; `nil` if the server did not state it.
    var byteCount: Int?
    /// The digests of the whole representation, as the server sent them (RFC 9530 §3); `nil` if it sent none.
    var digest: String?

    /// Reads the header fields of a complete response.
    ///
    /// - Parameter isCoded: Whether the body has a content coding, or had one that the transport removed. A range would
    ///   then count bytes of the coded body.
    init(_ head: HTTPResponse, isCoded: Bool, now: HTTPDate) {
        let fields = head.headerFields
        byteCount = isCoded ? nil : fields[.contentLength].flatMap { ByteRange.position($0) }
        digest = isCoded ? nil : HTTPField.Name.reprDigest.flatMap { fields[$0] }
        let refusesRanges = fields[.acceptRanges]?.lowercased() == "none"
        validator = isCoded || refusesRanges ? nil : Self.validator(fields, now: now)
    }

    /// Returns the strong validator in the fields of a response, or `nil` if there is none.
    private static func validator(_ fields: HTTPFields, now: HTTPDate) -> String? {
        if let value = fields[.eTag] {
            // If the response has a tag, weak or strong, a date must not be sent.
            guard let tag = EntityTag(value), !tag.isWeak, tag.opaque.isQuoted else { return nil }
            return tag.text
        }
        // A date is strong only if it is sufficiently older than the response (RFC 9110 §8.8.2.2).
        guard let text = fields[.lastModified], let modified = HTTPDate(text, now: now),
            let date = fields[.date].flatMap({ HTTPDate($0, now: now) }), date.since(modified) >= .seconds(1)
        else { return nil }
        return text
    }

    /// Returns whether a partial response with this head can belong to this representation.
    func admits(_ head: HTTPResponse, _ range: ContentRange) -> Bool {
        if let byteCount, let complete = range.completeLength, byteCount != complete { return false }
        guard let validator, let own = EntityTag(validator), own.opaque.isQuoted else {
            return head.headerFields[.lastModified].map { $0 == validator } ?? true
        }
        guard let value = head.headerFields[.eTag] else { return true }
        return EntityTag(value)?.matchesStrongly(own) ?? false
    }
}

extension String {
    /// Whether the text is in quotation marks, as required for an entity tag (RFC 9110 §8.8.3).
    fileprivate var isQuoted: Bool { utf8.count >= 2 && hasPrefix("\"") && hasSuffix("\"") }
}

extension HTTPField.Name {
    /// The field of RFC 9530 §3.
    static let reprDigest = HTTPField.Name("Repr-Digest")
    /// The field of RFC 9530 §2.
    static let contentDigest = HTTPField.Name("Content-Digest")
}
