import Foundation
package import HTTPTypes

/// The scheme, host and port that decide whether two requests go to the same server (RFC 6454 §4).
package struct Origin: Hashable, Sendable {
    /// The scheme: `http`, `https`, or any other that the request has.
    package let scheme: String
    /// The host in the form in which origins are compared: in lower case; an IPv6 address in brackets and in the form
    /// of RFC 5952.
    ///
    /// A name with the trailing dot of the root is another host: cookies (RFC 6265bis §5.1.2) and credentials are never
    /// for both.
    package let host: String
    /// The port.
    package let port: Int

    /// Creates the origin of a request. Hosts and schemes are compared without regard to case, and an absent port
    /// equals the default port.
    package init(_ head: HTTPRequest) {
        scheme = (head.scheme ?? "").inLowerCase
        let authority = head.authority ?? ""
        let octets = authority.utf8
        let defaultPort = scheme == "https" ? 443 : 80
        // The port follows the last colon, but a colon inside an IPv6 literal's brackets is part of the host.
        if let colon = octets.lastIndex(of: UInt8(ascii: ":")), !octets[colon...].contains(UInt8(ascii: "]")) {
            host = authority[..<colon].asComparedHost
            port = Int(authority[octets.index(after: colon)...]) ?? defaultPort
        } else {
            host = authority.asComparedHost
            port = defaultPort
        }
    }

    /// Creates an origin from scheme, host and port.
    package init(scheme: String, host: String, port: Int) {
        self.scheme = scheme.inLowerCase
        self.host = host.asComparedHost
        self.port = port
    }

    /// The host in the form for lookups: without the brackets of an IPv6 address, and without the dot of the root. A
    /// name with the dot denotes the same machine for DNS, for TLS (RFC 6066 §3) and for rules about hosts (RFC 6797):
    /// the other spelling must not evade them.
    package var bareHost: String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host.withoutRootDot
    }

    /// Whether requests to the origin never leave this machine.
    package var isLoopback: Bool { bareHost.isLoopbackHost }
}

extension StringProtocol {
    /// Whether the text, in lower case, is a name of this machine itself: `localhost`, or a name below it (RFC 6761
    /// §6.3).
    package var isLoopbackName: Bool { self == "localhost" || hasSuffix(".localhost") }

    /// Whether the text, a host without a port and without brackets, is this machine itself: a loopback name, or a
    /// loopback address in any notation that the system's resolver reads (`127.1` is one of `inet_aton`), with or
    /// without the dot of the root.
    package var isLoopbackHost: Bool {
        let host = asComparedHost.withoutRootDot
        if host.isLoopbackName { return true }
        if let address = IPAddress(host) { return address.isLoopback }
        // `inet_aton` stops at the first blank and ignores the rest.
        var legacy = in_addr()
        guard host.utf8.allSatisfy({ $0 > 0x20 }), inet_aton(host, &legacy) != 0 else { return false }
        return IPAddress(v4: UInt32(bigEndian: legacy.s_addr)).isLoopback
    }

    /// The host in the form in which hosts are compared; see ``Origin/host``.
    package var asComparedHost: String {
        let host = inLowerCase
        if host.utf8.first == UInt8(ascii: "["), let address = IPAddress(String(host.dropFirst().dropLast())),
            address.family == .v6
        {
            return "[\(address)]"
        }
        return host
    }

    /// The host without the dot of the root at its end.
    fileprivate var withoutRootDot: String {
        var host = String(self)
        while host.utf8.last == UInt8(ascii: ".") { host.removeLast() }
        return host
    }

    /// The text in lower case; unchanged if it is already, like almost every host.
    fileprivate var inLowerCase: String {
        utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) } ? String(self) : lowercased()
    }
}
