import Foundation

/// The host and the port of an `http` or `https` URI (RFC 9110 §4.2), in the form that requests use.
package struct URIAuthority: Sendable, Equatable {
    /// The reason why an authority does not identify a server.
    package enum Problem: Error, CustomStringConvertible {
        /// The authority contains user information (RFC 9110 §4.2.4).
        case userInfo
        /// The host is missing, or is neither a name nor an IP address.
        case host
        /// The host contains non-ASCII characters and can't be converted to ASCII (RFC 5891 §4, UTS 46).
        case internationalHost
        case port

        /// The problem as text. It contains no part of the authority, which may contain a secret.
        package var description: String {
            switch self {
            case .userInfo: "it has a user's name or password before its host"
            case .host: "its host is neither a name nor an IP address (an IPv6 address needs brackets)"
            case .internationalHost:
                "its host can't be converted to ASCII (IDNA); write it as an A-label, such as xn--bcher-kva.example"
            case .port: "its port is not a number from 1 to 65535"
            }
        }
    }

    /// An ASCII name, an IPv4 address, or an IPv6 address in brackets. A U-label is converted to its A-label; an
    /// A-label is unchanged.
    package let host: String
    /// The port; `nil` if the authority has no port.
    package let port: Int?

    /// The host without the brackets of an IPv6 address.
    package var bareHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// The host and port, as in a `Host` field (RFC 9110 §7.2).
    package var text: String { port.map { "\(host):\($0)" } ?? host }

    /// Parses the authority of a URI.
    package init(_ octets: some Collection<UInt8>) throws(Problem) {
        let octets = Array(octets)[...]
        guard !octets.contains(UInt8(ascii: "@")) else { throw .userInfo }
        // Colons between brackets belong to an IPv6 address.
        let last = octets.first == UInt8(ascii: "[") ? octets.firstIndex(of: UInt8(ascii: "]")) : nil
        let end = octets[(last ?? 0)...].firstIndex(of: UInt8(ascii: ":")) ?? octets.endIndex
        host = try Self.host(octets[..<end])
        port = try Self.port(octets[end...].dropFirst())
    }

    private static func port(_ octets: ArraySlice<UInt8>) throws(Problem) -> Int? {
        if octets.isEmpty { return nil }
        guard octets.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(String(decoding: octets, as: UTF8.self)), (1...65535).contains(port)
        else { throw .port }
        return port
    }

    /// Parses a host by RFC 3986 §3.2.2. Hosts that no transport can dial are refused: names with characters other than
    /// letters, digits and `-._~`, and addresses of future IP versions.
    private static func host(_ octets: ArraySlice<UInt8>) throws(Problem) -> String {
        if octets.first == UInt8(ascii: "[") {
            let text = String(decoding: octets, as: UTF8.self)
            guard text.hasSuffix("]"), IPAddress(String(text.dropFirst().dropLast()))?.family == .v6 else {
                throw .host
            }
            return text
        }
        // A percent-encoded name is UTF-8 (RFC 3986 §3.2.2).
        guard let name = String(validating: PercentEncoding.decoded(octets), as: UTF8.self),
            name.utf8.contains(where: { $0 != UInt8(ascii: ".") }),
            name.utf8.allSatisfy({ $0 >= 0x80 || PercentEncoding.unreserved.contains($0) })
        else { throw .host }
        if name.utf8.allSatisfy({ $0 < 0x80 }) {
            // An ASCII name needs no escapes. A name with escapes may imitate another name.
            guard name.utf8.count == octets.count else { throw .host }
            return name
        }
        // Only non-ASCII names are converted, because Foundation would also turn A-labels into U-labels.
        guard let ascii = URLComponents(string: "http://\(name)")?.encodedHost,
            !ascii.isEmpty, ascii.utf8.allSatisfy(PercentEncoding.unreserved.contains)
        else { throw .internationalHost }
        return ascii
    }
}
