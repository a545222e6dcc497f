package import HTTPTypes

extension Request {
    /// The URL, with characters that are not allowed in a path or query percent-encoded (RFC 3986 §3.3, §3.4) and
    /// everything else unchanged.
    ///
    /// For transports that read URLs with Foundation, which repairs an invalid URL by escaping its escapes, too.
    package var escapedURL: String {
        guard let path = head.path else { return url }
        return "\(head.scheme ?? "")://\(head.authority ?? "")\(path.escapedAsTarget)"
    }
}

extension HTTPRequest {
    /// The target of the request: path and query, escaped in the same way, with the slash at its start that RFC 9112
    /// §3.2.1 requires.
    package var escapedTarget: String { target(\.escapedAsTarget) }

    /// The target in the form in which a proxy forwards it: unescaped characters of clients stay unescaped. Only
    /// characters that would end the target or the line are escaped.
    package var receivedTarget: String { target { $0.percentEncoded(allowing: PercentEncoding.received) } }

    private func target(_ escaped: (String) -> String) -> String {
        guard let path, !path.isEmpty else { return "/" }
        let target = escaped(path)
        return target.utf8.first == UInt8(ascii: "/") || (target == "*" && method == .options) ? target : "/" + target
    }
}

extension String {
    /// This path and query, escaped; most need no change, and are not copied.
    fileprivate var escapedAsTarget: String {
        consists(of: PercentEncoding.target) ? self : PercentEncoding.target(Array(utf8)[...])
    }
}
