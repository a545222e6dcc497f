import Foundation
package import HTTPTypes

/// The scheme, host and port that decide whether two requests go to the same server (RFC 6454 §4).
package struct Origin: Hashable, Sendable {
    /// The scheme of the request, usually `http` or `https`.
    package let scheme: String
    /// The host in the form in which origins are compared: in lower case. An IPv6 address is in brackets and in the
    /// form of RFC 5952.
    ///
    /// A name that ends in the dot of the DNS root is a different host: it never shares cookies (RFC 6265bis §5.1.2) or
    /// credentials with the name without the dot.
    package let host: String
    package let port: Int

    /// Creates the origin of a request. Hosts and schemes are compared without regard to case. An absent port equals
    /// the default port.
    package init(_ head: HTTPRequest) {
        scheme = (head.scheme ?? "").inLowerCase
        let authority = head.authority ?? ""
        let octets = authority.utf8
        let defaultPort = scheme == "https" ? 443 : 80
        // The port follows the last colon. A colon within the brackets of an IPv6 address does not count.
        if let colon = octets.lastIndex(of: UInt8(ascii: ":")), !octets[colon...].contains(UInt8(ascii: "]")) {
            host = authority[..<colon].asComparedHost
            port = Int(authority[octets.index(after: colon)...]) ?? defaultPort
        } else {
            host = authority.asComparedHost
            port = defaultPort
        }
    }

    package init(scheme: String, host: String, port: Int) {
        self.scheme = scheme.inLowerCase
        self.host = host.asComparedHost
        self.port = port
    }

    /// The host in the form for lookups: an IPv6 address is without brackets, and a name is without the dot of the DNS
    /// root.
    ///
    /// With or without the dot, a name denotes the same machine for DNS, TLS (RFC 6066 §3) and rules about hosts (RFC
    /// 6797). An added dot must not evade such rules.
    package var bareHost: String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host.withoutRootDot
    }

    /// Whether the origin is this machine, so that requests to it never leave the machine.
    package var isLoopback: Bool { bareHost.isLoopbackHost }
}

extension StringProtocol {
    /// Whether the text is the name of this machine: `localhost`, or a name below it (RFC 6761 §6.3). The text must be
    /// in lower case.
    package var isLoopbackName: Bool { self == "localhost" || hasSuffix(".localhost") }

    /// Whether the text denotes this machine: a loopback name or a loopback address, with or without the dot of the DNS
    /// root. The text is a host without port and brackets. An address may have any notation that the system's resolver
    /// accepts, such as `127.1`.
    package var isLoopbackHost: Bool {
        let host = asComparedHost.withoutRootDot
        if host.isLoopbackName { return true }
        if let address = IPAddress(host) { return address.isLoopback }
        // `inet_aton` ignores everything after the first blank, so texts with blanks are excluded.
        var legacy = in_addr()
        guard host.utf8.allSatisfy({ $0 > 0x20 }), inet_aton(host, &legacy) != 0 else { return false }
        return IPAddress(v4: UInt32(bigEndian: legacy.s_addr)).isLoopback
    }

    /// The text in the form in which hosts are compared; see ``Origin/host``.
    package var asComparedHost: String {
        let host = inLowerCase
        if host.utf8.first == UInt8(ascii: "["), let address = IPAddress(String(host.dropFirst().dropLast())),
            address.family == .v6
        {
            return "[\(address)]"
        }
        return host
    }

    /// The host without a dot of the DNS root at its end.
    fileprivate var withoutRootDot: String {
        var host = String(self)
        while host.utf8.last == UInt8(ascii: ".") { host.removeLast() }
        return host
    }

    /// The text in lower case. It is not copied if it is already in lower case, like almost every host.
    fileprivate var inLowerCase: String {
        utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) } ? String(self) : lowercased()
    }
}
