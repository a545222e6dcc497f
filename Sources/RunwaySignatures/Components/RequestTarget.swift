import HTTPTypes

/// The parts of a request's target URI (RFC 9110 §7.1), as they were sent.
struct RequestTarget {
    let scheme: String?
    let authority: String?
    /// The path and the query with its question mark. `nil` for CONNECT and `OPTIONS *`, whose target has neither.
    let pathAndQuery: Substring?

    init(_ request: HTTPRequest) {
        let path = request.path.map { $0[...] }
        guard let path, path.utf8.first != UInt8(ascii: "/"), let separator = Self.endOfScheme(of: path) else {
            (scheme, authority) = (request.scheme, request.authority)
            pathAndQuery = path == "*" || request.method == .connect ? nil : path
            return
        }
        // The absolute form, as it is sent to a proxy (RFC 9112 §3.2.2), decides over Host.
        let rest = path[separator...].dropFirst(3)
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        scheme = String(path[..<separator])
        authority = String(rest[..<end])
        pathAndQuery = rest[end...]
    }

    var path: Substring? {
        pathAndQuery.map { target in
            let path = target[..<(target.queryMark ?? target.endIndex)]
            return path.isEmpty ? "/" : path
        }
    }

    /// The query with its question mark; a question mark alone if the target has no query.
    var query: Substring? {
        pathAndQuery.map { target in
            target.queryMark.map { target[$0...] } ?? "?"
        }
    }

    /// The host in lower case, and the port unless it is the scheme's default (RFC 9110 §4.2.3). `nil` for an authority that is
    /// absent, empty, or has user information.
    var normalizedAuthority: String? {
        guard let authority, !authority.isEmpty, !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
        let lowercased = Self.lowercased(authority)
        // The colons of an IPv6 address are within brackets.
        let afterHost = lowercased.utf8.lastIndex(of: UInt8(ascii: "]")) ?? lowercased.startIndex
        guard let colon = lowercased[afterHost...].utf8.lastIndex(of: UInt8(ascii: ":")) else { return lowercased }
        let host = lowercased[..<colon]
        let port = lowercased[colon...].dropFirst()
        guard !host.isEmpty else { return nil }
        let scheme = normalizedScheme
        let isDefault = scheme == "https" && port == "443" || scheme == "http" && port == "80"
        return isDefault || port.isEmpty ? String(host) : lowercased
    }

    var normalizedScheme: String? { scheme.map(Self.lowercased) }

    /// The position of `://`.
    private static func endOfScheme(of target: Substring) -> Substring.Index? {
        let colon = target.utf8.firstIndex(of: UInt8(ascii: ":"))
        return colon.flatMap { target[$0...].utf8.starts(with: "://".utf8) ? $0 : nil }
    }

    /// Only ASCII letters change: some other characters become ASCII letters in lower case.
    private static func lowercased(_ text: String) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return text }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension Substring {
    /// The position of the question mark that begins the query of a request's target.
    var queryMark: Index? { utf8.firstIndex(of: UInt8(ascii: "?")) }
}
