/// An entity tag (RFC 9110 §8.8.3). It is compared as it was sent, including the quotation marks.
///
/// Some servers send a tag without quotation marks. Such a tag counts as strong and is sent back unchanged.
struct EntityTag: Hashable, Sendable {
    /// The opaque tag (RFC 9110 §8.8.3) as it was sent, normally in quotation marks.
    let opaque: String
    /// Whether the tag is weak: two representations with a weak tag may differ in their bytes.
    let isWeak: Bool

    /// Parses the value of an `ETag` field. Returns `nil` if the value is empty.
    init?(_ value: some StringProtocol) {
        let text = Substring(value).trimmingWhitespace
        isWeak = text.hasPrefix("W/") || text.hasPrefix("w/")
        opaque = String(isWeak ? text.dropFirst(2) : text)
        if opaque.isEmpty { return nil }
    }

    var text: String { (isWeak ? "W/" : "") + opaque }

    /// Returns whether both tags identify the same bytes, by strong comparison (RFC 9110 §8.8.3.2).
    func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Returns whether both tags identify equivalent representations, by weak comparison (RFC 9110 §8.8.3.2).
    func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

enum EntityTagList: Sendable, Equatable {
    case any
    case tags([EntityTag])

    /// Parses a list of entity tags from the values of all lines of a field. Returns `nil` if there is no line.
    init?(_ values: [String]) {
        if values.isEmpty { return nil }
        let elements = values.flatMap { FieldList.elements(of: $0) }
        self = elements.contains("*") ? .any : .tags(elements.compactMap { EntityTag($0) })
    }

    /// Returns whether the list contains the tag, by weak comparison (RFC 9110 §13.1.2).
    func matches(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
        }
    }
}
