package import HTTPTypes

/// Scheme, host and port: what decides whether two requests go to the same place (RFC 6454 §4).
package struct Origin: Hashable, Sendable {
    /// `http` or `https`, or whatever else a request says.
    package let scheme: String
    /// The host, in lower case; an IPv6 literal in its brackets.
    package let host: String
    /// The port.
    package let port: Int

    /// The origin of a request; hosts and schemes are compared without regard to case, a default port as if it were given.
    package init(_ head: HTTPRequest) {
        scheme = (head.scheme ?? "").inLowerCase
        let authority = head.authority ?? ""
        let defaultPort = scheme == "https" ? 443 : 80
        // The port follows the last colon, but a colon inside an IPv6 literal's brackets is part of the host.
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            host = authority[..<colon].inLowerCase
            port = Int(authority[authority.index(after: colon)...]) ?? defaultPort
        } else {
            host = authority.inLowerCase
            port = defaultPort
        }
    }

    /// The origin of a scheme, a host and a port.
    package init(scheme: String, host: String, port: Int) {
        self.scheme = scheme.inLowerCase
        self.host = host.inLowerCase
        self.port = port
    }
}

extension StringProtocol {
    /// Whether it is a name of this machine itself: `localhost` and all below it (RFC 6761 §6.3). In lower case.
    package var isLoopbackName: Bool { self == "localhost" || hasSuffix(".localhost") }

    /// The text in lower case; as it is where it has nothing else, as almost every host does.
    fileprivate var inLowerCase: String {
        utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) } ? String(self) : lowercased()
    }
}
