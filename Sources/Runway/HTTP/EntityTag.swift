/// An entity tag (RFC 9110 §8.8.3), compared as it was sent, including the quotation marks.
///
/// Some servers send a tag without quotation marks. It counts as a strong tag, and is sent back unchanged.
struct EntityTag: Hashable, Sendable {
    /// The opaque part, unchanged.
    let opaque: String
    /// Whether two representations with this tag may differ in their bytes.
    let isWeak: Bool

    /// Reads the value of an `ETag` field; `nil` for an empty one.
    init?(_ value: some StringProtocol) {
        let text = Substring(value).trimmingWhitespace
        isWeak = text.hasPrefix("W/") || text.hasPrefix("w/")
        opaque = String(isWeak ? text.dropFirst(2) : text)
        if opaque.isEmpty { return nil }
    }

    /// The tag as it is written in a field.
    var text: String { (isWeak ? "W/" : "") + opaque }

    /// Whether both name the same bytes (RFC 9110 §8.8.3.2).
    func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Whether both name the same meaning (RFC 9110 §8.8.3.2).
    func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

/// The value of `If-None-Match`.
enum EntityTagList: Sendable, Equatable {
    /// `*`
    case any
    /// The tags.
    case tags([EntityTag])

    /// Reads field values, one for every line; `nil` if there is no line.
    init?(_ values: [String]) {
        if values.isEmpty { return nil }
        let elements = values.flatMap { FieldList.elements(of: $0) }
        self = elements.contains("*") ? .any : .tags(elements.compactMap { EntityTag($0) })
    }

    /// Whether a representation with this tag is one that the list names, by weak comparison (RFC 9110 §13.1.2).
    func matches(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
        }
    }
}
