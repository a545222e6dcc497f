package import HTTPTypes

extension Request {
    /// The URL, with what may not stand in a path or query percent-encoded (RFC 3986 §3.3, §3.4) and everything else as it is.
    ///
    /// For transports that read URLs with Foundation, which repairs a URL that is not legal by escaping its escapes too.
    package var escapedURL: String {
        guard let path = head.path else { return url }
        return "\(head.scheme ?? "")://\(head.authority ?? "")\(path.escapedAsTarget)"
    }
}

extension HTTPRequest {
    /// The target of the request: path and query, escaped likewise, and with the slash that it has to begin with (RFC 9112 §3.2.1).
    package var escapedTarget: String {
        guard let path, !path.isEmpty else { return "/" }
        let target = path.escapedAsTarget
        return target.utf8.first == UInt8(ascii: "/") || (target == "*" && method == .options) ? target : "/" + target
    }
}

extension String {
    /// This path and query, escaped; most need nothing, and are not copied.
    fileprivate var escapedAsTarget: String {
        consists(of: PercentEncoding.target) ? self : PercentEncoding.target(Array(utf8)[...])
    }
}
