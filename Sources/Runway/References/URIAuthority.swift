import Foundation

/// The host and the port of an `http` or `https` URI (RFC 9110 §4.2), in the form in which requests name them.
package struct URIAuthority: Sendable, Equatable {
    /// The reason why an authority can't be called.
    package enum Problem: Error, CustomStringConvertible {
        /// The authority has a user's name or password (RFC 9110 §4.2.4).
        case userInfo
        /// The host is absent, or neither a name nor an IP address.
        case host
        /// The host has characters beyond ASCII and no form in ASCII (RFC 5891 §4, UTS 46).
        case internationalHost
        /// The port is not a number from 1 to 65535.
        case port

        /// The problem, without any part of the authority, which may contain a secret.
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

    /// A name in ASCII, an IPv4 address, or an IPv6 address in brackets. An A-label stays as it is; a U-label becomes
    /// its A-label.
    package let host: String
    /// The port; `nil` if none is named.
    package let port: Int?

    /// The host without the brackets of an IPv6 address.
    package var bareHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// Host and port, as in a `Host` field (RFC 9110 §7.2).
    package var text: String { port.map { "\(host):\($0)" } ?? host }

    /// Reads the authority of a URI.
    package init(_ octets: some Collection<UInt8>) throws(Problem) {
        let octets = Array(octets)[...]
        guard !octets.contains(UInt8(ascii: "@")) else { throw .userInfo }
        // A colon between brackets is part of an address.
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

    /// RFC 3986 §3.2.2, without hosts that no transport can dial: names with other characters than letters, digits and
    /// `-._~`, and addresses of a future version of IP.
    private static func host(_ octets: ArraySlice<UInt8>) throws(Problem) -> String {
        if octets.first == UInt8(ascii: "[") {
            let text = String(decoding: octets, as: UTF8.self)
            guard text.hasSuffix("]"), IPAddress(String(text.dropFirst().dropLast()))?.family == .v6 else {
                throw .host
            }
            return text
        }
        // An escaped name is UTF-8 (RFC 3986 §3.2.2).
        guard let name = String(validating: PercentEncoding.decoded(octets), as: UTF8.self),
            name.utf8.contains(where: { $0 != UInt8(ascii: ".") }),
            name.utf8.allSatisfy({ $0 >= 0x80 || PercentEncoding.unreserved.contains($0) })
        else { throw .host }
        if name.utf8.allSatisfy({ $0 < 0x80 }) {
            // A name in ASCII needs no escapes: one with escapes imitates another.
            guard name.utf8.count == octets.count else { throw .host }
            return name
        }
        // Only such a name is converted: Foundation would also turn A-labels into U-labels.
        guard let ascii = URLComponents(string: "http://\(name)")?.encodedHost,
            !ascii.isEmpty, ascii.utf8.allSatisfy(PercentEncoding.unreserved.contains)
        else { throw .internationalHost }
        return ascii
    }
}
