package import HTTPTypes

extension Request {
    /// The URL with all characters percent-encoded that a path or query must not contain (RFC 3986 §3.3, §3.4).
    /// Everything else is unchanged.
    ///
    /// Transports that pass URLs to Foundation need it: Foundation repairs an invalid URL by also escaping its existing
    /// escapes.
    package var escapedURL: String {
        guard let path = head.path else { return url }
        return "\(head.scheme ?? "")://\(head.authority ?? "")\(path.escapedAsTarget)"
    }
}

extension HTTPRequest {
    /// The target of the request: path and query with invalid characters percent-encoded. It begins with a slash, as
    /// RFC 9112 §3.2.1 requires.
    package var escapedTarget: String { target(\.escapedAsTarget) }

    /// The target in the form in which a proxy forwards it. Characters that the client did not escape stay unescaped,
    /// except those that would end the target or the line.
    package var receivedTarget: String { target { $0.percentEncoded(allowing: PercentEncoding.received) } }

    private func target(_ escaped: (String) -> String) -> String {
        guard let path, !path.isEmpty else { return "/" }
        let target = escaped(path)
        return target.utf8.first == UInt8(ascii: "/") || (target == "*" && method == .options) ? target : "/" + target
    }
}

extension String {
    /// The path and query with invalid characters percent-encoded. Most texts need no change and are not copied.
    fileprivate var escapedAsTarget: String {
        consists(of: PercentEncoding.target) ? self : PercentEncoding.target(Array(utf8)[...])
    }
}
