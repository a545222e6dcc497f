import Foundation
package import HTTPTypes

/// Scheme, host and port, which decide whether two requests go to the same server (RFC 6454 §4).
package struct Origin: Hashable, Sendable {
    /// `http` or `https`, or whatever else the request has.
    package let scheme: String
    /// The host in the form in which origins are compared: in lower case, and an IPv6 address in its brackets and in
    /// the form of RFC 5952.
    ///
    /// With the dot of the root at its end a name is another host: neither cookies (RFC 6265bis §5.1.2) nor credentials
    /// are for both.
    package let host: String
    /// The port.
    package let port: Int

    /// The origin of a request; hosts and schemes are compared without regard to case, and an absent port equals the
    /// default port.
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

    /// The origin of a scheme, a host and a port.
    package init(scheme: String, host: String, port: Int) {
        self.scheme = scheme.inLowerCase
        self.host = host.asComparedHost
        self.port = port
    }

    /// The host as it is looked up: without the brackets of an IPv6 address, and without the dot of the root, with
    /// which a name means the same machine to DNS, to TLS (RFC 6066 §3) and to rules about hosts (RFC 6797). Another
    /// spelling of a name can't evade a lookup by this.
    package var bareHost: String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host.withoutRootDot
    }

    /// Whether requests to it never leave this machine.
    package var isLoopback: Bool { bareHost.isLoopbackHost }
}

extension StringProtocol {
    /// Whether it is a name of this machine itself: `localhost` and all below it (RFC 6761 §6.3). In lower case.
    package var isLoopbackName: Bool { self == "localhost" || hasSuffix(".localhost") }

    /// Whether a host without a port and without brackets is this machine itself: a loopback name, or a loopback
    /// address in any notation that the system's resolver reads (`127.1` is one of `inet_aton`), with or without the
    /// dot of the root.
    package var isLoopbackHost: Bool {
        let host = asComparedHost.withoutRootDot
        if host.isLoopbackName { return true }
        if let address = IPAddress(host) { return address.isLoopback }
        // `inet_aton` stops at the first blank and ignores what follows.
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

    /// The text in lower case; unchanged if it has no other letters, as almost every host.
    fileprivate var inLowerCase: String {
        utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) } ? String(self) : lowercased()
    }
}
