import HTTPTypes

/// A URI reference, split into its five components (RFC 3986 §3, §4.1).
///
/// The components are the octets as received. They are not decoded, escaped or repaired, so that a signed text stays
/// unchanged (§2.4). Use ``HTTPTarget`` for the parts that a request contains.
package struct URIReference: Sendable {
    /// The scheme without its colon; `nil` for a relative reference.
    package private(set) var scheme: ArraySlice<UInt8>?
    /// The text between `//` and the path; `nil` if absent.
    package private(set) var authority: ArraySlice<UInt8>?
    package private(set) var path: ArraySlice<UInt8>
    /// The query without its question mark; `nil` if absent.
    package private(set) var query: ArraySlice<UInt8>?
    /// The fragment without its number sign; `nil` if absent.
    package private(set) var fragment: ArraySlice<UInt8>?

    /// Splits a reference. Any sequence of octets is valid (RFC 3986 appendix B).
    package init(_ octets: some Sequence<UInt8>) {
        var rest = Array(octets)[...]
        if let sign = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[(sign + 1)...]
            rest = rest[..<sign]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[(mark + 1)...]
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon]
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
            self.authority = authority
            rest = rest[authority.endIndex...]
        }
        path = rest
    }

    /// Creates the base URI for references in a response from the target of its request.
    init(_ head: HTTPRequest) {
        let target = Array((head.path ?? "").utf8)[...]
        path = target.prefix { $0 != UInt8(ascii: "?") }
        query = path.endIndex < target.endIndex ? target[(path.endIndex + 1)...] : nil
        scheme = Array((head.scheme ?? "").utf8)[...]
        authority = Array((head.authority ?? "").utf8)[...]
    }

    /// Resolves this reference against the URI of a document (RFC 3986 §5.2.2). Strict: a reference with a scheme is
    /// never relative.
    func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                    return target
                }
                if path.first != UInt8(ascii: "/") { target.path = base.merged(with: path) }
            }
        }
        target.path = Self.withoutDotSegments(target.path)
        return target
    }

    /// Returns a relative path, appended to the directory of this path (RFC 3986 §5.2.3).
    private func merged(with relative: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if authority != nil, path.isEmpty { return [UInt8(ascii: "/")] + relative }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return path[...slash] + relative
    }

    /// Removes dot segments with the algorithm of RFC 3986 §5.2.4. Escaped dots are not removed, because escapes must
    /// not change.
    private static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var input = path
        var output: [UInt8] = []
        output.reserveCapacity(path.count)
        while !input.isEmpty {
            if input.starts(with: "../".utf8) {
                input = input.dropFirst(3)
            } else if input.starts(with: "./".utf8) || input.starts(with: "/./".utf8) {
                input = input.dropFirst(2)
            } else if input.starts(with: "/../".utf8) {
                input = input.dropFirst(3)
                output.removeLastSegment()
            } else if input.elementsEqual("/.".utf8) {
                input = input.prefix(1)
            } else if input.elementsEqual("/..".utf8) {
                input = input.prefix(1)
                output.removeLastSegment()
            } else if input.elementsEqual(".".utf8) || input.elementsEqual("..".utf8) {
                input = []
            } else {
                let end = input.dropFirst().firstIndex(of: UInt8(ascii: "/")) ?? input.endIndex
                output += input[..<end]
                input = input[end...]
            }
        }
        return output[...]
    }

    /// Returns whether the octets form a valid scheme (RFC 3986 §3.1).
    private static func isScheme(_ octets: ArraySlice<UInt8>) -> Bool {
        guard let first = octets.first, scheme.contains(first), !"+-.0123456789".utf8.contains(first) else {
            return false
        }
        return octets.allSatisfy(scheme.contains)
    }

    private static let scheme = PercentEncoding.Allowed("+-.")
}

extension [UInt8] {
    /// Removes the last segment and the slash before it (RFC 3986 §5.2.4).
    fileprivate mutating func removeLastSegment() { removeSubrange((lastIndex(of: UInt8(ascii: "/")) ?? 0)...) }
}
