import HTTPTypes

/// The parts of a request's target URI (RFC 9110 §7.1) as they were sent.
struct RequestTarget {
    let scheme: String?
    let authority: String?
    /// The path and the query with its question mark; `nil` for CONNECT and `OPTIONS *`, whose targets have neither.
    let pathAndQuery: Substring?
    /// The position of the question mark that begins the query; `nil` if the target has no query.
    private let queryMark: Substring.Index?

    init(_ request: HTTPRequest) {
        let path = request.path.map { $0[...] }
        guard let path, path.utf8.first != UInt8(ascii: "/"), let separator = Self.endOfScheme(of: path) else {
            (scheme, authority) = (request.scheme, request.authority)
            pathAndQuery = path == "*" || request.method == .connect ? nil : path
            queryMark = pathAndQuery?.queryMark
            return
        }
        // The absolute form, as sent to a proxy (RFC 9112 §3.2.2), overrides Host.
        let rest = path[separator...].dropFirst(3)
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        scheme = String(path[..<separator])
        authority = String(rest[..<end])
        pathAndQuery = rest[end...]
        queryMark = pathAndQuery?.queryMark
    }

    var path: Substring? {
        guard let pathAndQuery else { return nil }
        let path = pathAndQuery[..<(queryMark ?? pathAndQuery.endIndex)]
        return path.isEmpty ? "/" : path
    }

    /// The query with its question mark. For a target without a query, the value is only a question mark.
    var query: Substring? {
        guard let pathAndQuery else { return nil }
        return queryMark.map { pathAndQuery[$0...] } ?? "?"
    }

    /// The whole URI; `nil` if scheme, authority or path is absent.
    var uri: String? {
        guard let scheme = normalizedScheme, let authority = normalizedAuthority, let path, let pathAndQuery else {
            return nil
        }
        return "\(scheme)://\(authority)\(path)\(pathAndQuery[(queryMark ?? pathAndQuery.endIndex)...])"
    }

    /// The authority normalized by ``Authority/normalized(_:scheme:)``; `nil` if it is absent or invalid.
    var normalizedAuthority: String? {
        guard let authority else { return nil }
        return Authority.normalized(authority, scheme: normalizedScheme)
    }

    var normalizedScheme: String? { scheme.map(Authority.lowercased) }

    /// Returns the position of `://`, or `nil` if the target is not a URI.
    private static func endOfScheme(of target: Substring) -> Substring.Index? {
        let colon = target.utf8.firstIndex(of: UInt8(ascii: ":"))
        return colon.flatMap { target[$0...].utf8.starts(with: "://".utf8) ? $0 : nil }
    }
}

extension Substring {
    fileprivate var queryMark: Index? {
        let mark = UInt8(ascii: "?")
        // Searching `utf8` directly would be slower, since the search would advance character by character.
        let offset = utf8.withContiguousStorageIfAvailable { $0.firstIndex(of: mark) }
        guard let offset else { return utf8.firstIndex(of: mark) }
        return offset.map { utf8.index(startIndex, offsetBy: $0) }
    }
}
