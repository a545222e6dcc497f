import Runway

/// Decides for each host which proxy its connections use. By default no proxy is used, whatever the environment
/// contains.
///
/// No proxy is used for this machine itself, whatever an app sets: `localhost` and names below it, 127.0.0.0/8 and ::1.
///
/// ```swift
/// configuration.proxies = ProxySettings(environment: ProcessInfo.processInfo.environment)
/// ```
public struct ProxySettings: Sendable, Hashable {
    /// The proxy for `https` hosts. The default, `nil`, uses no proxy.
    public var https: ProxyServer? {
        get { secure.proxy }
        set { secure = Route(newValue) }
    }
    /// The proxy for plain `http` hosts. The default, `nil`, uses no proxy.
    public var http: ProxyServer? {
        get { plain.proxy }
        set { plain = Route(newValue) }
    }
    private var secure = Route.direct
    private var plain = Route.direct
    /// Hosts for which no proxy is used. The default is empty. Each element may end with a port, and is one of:
    ///
    /// - `*` for all hosts
    /// - `example.com` or `.example.com` for the host and all names below it
    /// - an address
    /// - a block of addresses, such as `10.0.0.0/8`
    public var bypassed: [String]
    /// Whether connections to this machine also use the proxy, as when a user names a proxy for one call.
    package var includesLoopback = false

    /// Uses no proxy for any host.
    public static let none = ProxySettings()

    /// Creates settings. By default, no proxy is used.
    public init(https: ProxyServer? = nil, http: ProxyServer? = nil, bypassed: [String] = []) {
        self.bypassed = bypassed
        self.https = https
        self.http = http
    }

    /// Reads the environment variables `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, each in lower case
    /// first and then in upper case. `HTTP_PROXY` is not read: in programs that a web server starts (CGI), a request
    /// can set it.
    ///
    /// If a variable does not name a usable proxy, only the calls that would use it fail, as
    /// `NetworkError.Kind.invalidConfiguration`.
    public init(environment: [String: String]) {
        func route(_ names: String...) -> Route {
            for name in names {
                guard let text = environment[name], !text.isEmpty else { continue }
                return ProxyServer(url: text).map(Route.proxy)
                    ?? .unusable(
                        "the variable \(name) names no proxy that can be used: http:// and socks5:// are known")
            }
            return .direct
        }
        secure = route("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        plain = route("http_proxy", "all_proxy", "ALL_PROXY")
        let list = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        bypassed = (list ?? "").split { $0 == "," || $0 == " " }.map(String.init)
    }

    func route(to origin: Origin) -> Route {
        let route = origin.scheme == "https" ? secure : plain
        if origin.isLoopback, !includesLoopback { return .direct }
        return bypassed.contains { origin.matches(bypass: $0.lowercased()) } ? .direct : route
    }

    /// How connections to an origin are established.
    enum Route: Sendable, Hashable {
        case direct
        case proxy(ProxyServer)
        /// No connection is possible, for the given reason.
        case unusable(String)

        fileprivate init(_ proxy: ProxyServer?) { self = proxy.map(Self.proxy) ?? .direct }

        /// The proxy; `nil` if none is used.
        var proxy: ProxyServer? { if case .proxy(let server) = self { server } else { nil } }
    }
}

extension Origin {
    /// Returns whether a pattern in the list of bypassed hosts matches this host.
    fileprivate func matches(bypass pattern: String) -> Bool {
        if pattern == "*" { return true }
        var pattern = pattern
        // A colon that is not part of an IPv6 address separates a port.
        if IPAddress(pattern) == nil, !pattern.contains("/"), let colon = pattern.lastIndex(of: ":") {
            guard Int(pattern[pattern.index(after: colon)...]) == port else { return false }
            pattern = String(pattern[..<colon])
        }
        if pattern.hasPrefix("["), pattern.hasSuffix("]") { pattern = String(pattern.dropFirst().dropLast()) }
        if let address = IPAddress(bareHost) {
            let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
            guard let block = IPAddress(String(parts[0])), block.family == address.family else { return false }
            guard parts.count > 1 else { return block == address }
            guard parts.count == 2, let length = Int(parts[1]), (0...block.bytes.count * 8).contains(length) else {
                return false
            }
            return zip(block.bytes, address.bytes).enumerated().allSatisfy { index, pair in
                let bits = min(max(length - index * 8, 0), 8)
                let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
                return pair.0 & mask == pair.1 & mask
            }
        }
        let suffix =
            pattern.hasPrefix("*.") ? pattern.dropFirst(2) : pattern.hasPrefix(".") ? pattern.dropFirst() : pattern[...]
        return !suffix.isEmpty && (bareHost == suffix || bareHost.hasSuffix(".\(suffix)"))
    }
}

extension ProxyServer {
    /// Parses the value of a variable: `http://name:password@host:port`, `socks5://host`, `socks5h://host` or
    /// `host:port`. Returns `nil` for any other.
    package init?(url text: String) {
        let uri = URIReference((text.contains("://") ? text : "http://\(text)").utf8)
        guard let scheme = uri.scheme, let authority = uri.authority else { return nil }
        let kind: Kind
        switch String(decoding: scheme, as: UTF8.self).lowercased() {
        case "http": kind = .http
        case "socks5", "socks5h": kind = .socks5
        default: return nil
        }
        let mark = authority.lastIndex(of: UInt8(ascii: "@"))
        guard let place = try? URIAuthority(authority[(mark.map { $0 + 1 } ?? authority.startIndex)...]) else {
            return nil
        }
        self.init(
            kind, host: place.bareHost, port: place.port ?? (kind == .http ? 80 : 1080),
            credentials: mark.map { Credentials(userInfo: authority[..<$0]) })
    }
}

extension ProxyServer.Credentials {
    /// Parses the user information before the `@` of a URI (RFC 3986 §3.2.1).
    fileprivate init(userInfo: ArraySlice<UInt8>) {
        let name = userInfo.prefix { $0 != UInt8(ascii: ":") }
        func text(_ octets: ArraySlice<UInt8>) -> String {
            String(decoding: PercentEncoding.decoded(octets), as: UTF8.self)
        }
        self.init(name: text(name), password: text(userInfo[name.endIndex...].dropFirst()))
    }
}
