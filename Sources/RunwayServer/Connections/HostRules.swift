import HTTPTypes
import NIOCore
import RunwayFormats
import RunwaySignatures

/// The host names of a server, the web pages that may use it, and the media types that it accepts.
///
/// The rules protect a server from foreign web pages. A browser lets a page send requests to every server that the
/// browser can reach, including servers on the loopback interface or in the local network:
///
/// - A page may send any request that looks like a form request. Browsers name the page in `Origin` (RFC 6454 §7), and
///   do not let it send `application/json` without the server's permission.
/// - A page's host name may first resolve to the page's own server, and later to an address of this machine (*DNS
///   rebinding*). Browsers then treat both as one origin, so the page can also read responses. Its requests have the
///   page's host name in `Host`.
///
/// ```swift
/// var rules = HostRules(["api.example.com"])
/// rules.origins = ["https://shop.example.com"]
/// let app = Application(router: GuardedRouter(router, rules))
/// ```
public struct HostRules: Sendable {
    /// Rules for a server that only its own machine uses: loopback names and addresses, no web pages, and only content
    /// of type `application/json`.
    public static var loopback: HostRules {
        var rules = HostRules()
        rules.mediaTypes = ["application/json"]
        return rules
    }

    /// The names and addresses by which clients reach the server. Case, a port and a trailing dot are ignored.
    ///
    /// Loopback addresses, `localhost` and names below it (RFC 6761 §6.3) are also accepted, since no foreign web page
    /// is served from them.
    public var hosts: Set<String>
    /// Whether every IP address is accepted as the server's, for a server that does not know its addresses. DNS
    /// rebinding stays blocked, since it requires a name. The default is `false`.
    public var acceptsAddresses = false
    /// The origins of web pages whose requests are accepted, such as `https://shop.example.com`. Case is ignored. These
    /// pages may also read the responses (Fetch §3.3, CORS).
    ///
    /// The default is empty: all requests with `Origin` are refused, even those of the server's own pages.
    public var origins: Set<String> = []
    /// The accepted media types of content; other content is refused with 415. `nil`, the default, accepts every type.
    public var mediaTypes: Set<String>?
    /// Whether loopback addresses, `localhost` and names below it (RFC 6761 §6.3) are also accepted.
    var acceptsLoopback = true

    /// Creates rules for a server with the names and addresses in `hosts`. All other properties have their defaults.
    public init(_ hosts: Set<String> = []) { self.hosts = hosts }

    /// Returns why a request is refused; `nil` if it is accepted.
    func refusal(of head: HTTPRequest) -> HostRefusal? {
        guard head.path?.utf8.first == UInt8(ascii: "/") || head.method == .options && head.path == "*" else {
            return .malformed
        }
        // A request may name its authority in several fields, but they must agree (RFC 9112 §3.2, RFC 9113 §8.3.1).
        let named = head.headerFields[values: .host] + [head.authority].compactMap(\.self)
        guard let authority = named.first, let host = Self.host(of: authority),
            named.allSatisfy({ Self.host(of: $0) == host })
        else { return .malformed }
        guard accepts(host) else { return .host }
        guard head.headerFields[values: .origin].allSatisfy({ allows($0) }) else { return .origin }
        if let mediaTypes, Self.hasContent(head) {
            let types = head.headerFields[values: .contentType]
            let accepted = Set(mediaTypes.map(Self.mediaType))
            guard types.count == 1, accepted.contains(Self.mediaType(types[0])) else { return .mediaType }
        }
        return nil
    }

    /// Returns whether web pages of an origin may use the server.
    func allows(_ origin: String) -> Bool {
        origins.contains { Authority.lowercased($0) == Authority.lowercased(origin) }
    }

    private func accepts(_ host: String) -> Bool {
        if acceptsLoopback, Self.isLoopback(host) { return true }
        if acceptsAddresses, Self.address(host) != nil { return true }
        return hosts.contains { Self.host(of: $0) == host }
    }

    /// Returns the lowercase host of an authority, or `nil` if the authority is malformed.
    private static func host(of authority: String) -> String? {
        let text = authority[...]
        let isLiteral = text.hasPrefix("[")
        let end = isLiteral ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        if isLiteral, end == nil { return nil }
        let host = text[..<(end ?? text.endIndex)]
        let rest = text[host.endIndex...]
        guard !host.isEmpty, !host.utf8.contains(UInt8(ascii: "@")), rest.isEmpty || rest.first == ":",
            rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return name(String(host))
    }

    private static func name(_ host: String) -> String {
        let text = Authority.lowercased(host)
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Returns the IP address in a host, or `nil` if the host is a name. IPv6 addresses are in brackets (RFC 3986
    /// §3.2.2).
    private static func address(_ host: String) -> SocketAddress? {
        let text = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        if case .v6 = address { return host.hasPrefix("[") ? address : nil }
        return host.hasPrefix("[") ? nil : address
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        guard let address = address(host), let text = address.ipAddress else { return false }
        return text.hasPrefix("127.") || text == "::1"
    }

    private static func mediaType(_ value: String) -> String {
        let type = value.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return Authority.lowercased(type)
    }

    private static func hasContent(_ head: HTTPRequest) -> Bool {
        head.headerFields[.contentLength].map { $0 != "0" }
            ?? (head.headerFields.contains(.transferEncoding)
                // In HTTP/2, content needs neither Content-Length nor Transfer-Encoding, so a Content-Type also
                // indicates content. Some clients send Content-Type in GET and HEAD requests without content, so it
                // does not count in those.
                || head.method != .get && head.method != .head && head.headerFields.contains(.contentType))
    }
}

extension HTTPField.Name {
    fileprivate static let host = Self("Host", known: ())
}
