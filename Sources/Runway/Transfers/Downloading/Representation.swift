import HTTPTypes

/// One representation of the downloaded resource, as described by the head of a response.
struct Representation: Codable, Equatable, Sendable {
    /// The value for `If-Range`: a strong validator (RFC 9110 §13.1.5); `nil` if the server sent none, so that the
    /// download can't be resumed.
    var validator: String?
    /// The number of bytes; `nil` if the server did not state it.
    var byteCount: Int?
    /// The digests of all bytes, as the server sent them (RFC 9530 §3).
    var digest: String?

    /// Reads the head of a complete response.
    ///
    /// - Parameter isCoded: Whether the body has a content coding, or had one that the transport undid. Positions in
    ///   its bytes then differ from those that a range would count.
    init(_ head: HTTPResponse, isCoded: Bool, now: HTTPDate) {
        let fields = head.headerFields
        byteCount = isCoded ? nil : fields[.contentLength].flatMap { ByteRange.position($0) }
        digest = isCoded ? nil : HTTPField.Name.reprDigest.flatMap { fields[$0] }
        let refusesRanges = fields[.acceptRanges]?.lowercased() == "none"
        validator = isCoded || refusesRanges ? nil : Self.validator(fields, now: now)
    }

    /// Returns the strong validator in the fields of a response.
    private static func validator(_ fields: HTTPFields, now: HTTPDate) -> String? {
        if let value = fields[.eTag] {
            // Beside a tag, weak or strong, a date must not be sent.
            guard let tag = EntityTag(value), !tag.isWeak, tag.opaque.isQuoted else { return nil }
            return tag.text
        }
        // A date is strong only if it is sufficiently older than the response (RFC 9110 §8.8.2.2).
        guard let text = fields[.lastModified], let modified = HTTPDate(text, now: now),
            let date = fields[.date].flatMap({ HTTPDate($0, now: now) }), date.since(modified) >= .seconds(1)
        else { return nil }
        return text
    }

    /// Returns whether the head of a partial response can belong to this representation.
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
    /// `Repr-Digest` (RFC 9530 §3).
    static let reprDigest = HTTPField.Name("Repr-Digest")
    /// `Content-Digest` (RFC 9530 §2).
    static let contentDigest = HTTPField.Name("Content-Digest")
}
