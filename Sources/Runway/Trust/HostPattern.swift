/// A host, and maybe all hosts below it.
package struct HostPattern: Sendable, Hashable {
    package let host: String
    package let includesSubdomains: Bool

    /// - Parameter host: The result of ``normal(_:)``.
    package init(host: String, includesSubdomains: Bool) {
        self.host = host
        self.includesSubdomains = includesSubdomains
    }

    /// Whether the pattern includes a host.
    package func matches(_ other: String) -> Bool {
        let other = Self.normal(other)
        return other == host || includesSubdomains && other.hasSuffix(".\(host)")
    }

    /// Returns a host in the form in which it is compared: as in ``Origin/host``, and without brackets.
    package static func normal(_ host: String) -> String {
        // Bare or in brackets, an address of IPv6 has many spellings.
        if host.contains(":"), let address = IPAddress(host) { return "\(address)" }
        return Origin(scheme: "https", host: host, port: 443).bareHost
    }

    /// Whether a text can be a host: labels of letters, digits and hyphens, or an address.
    static func isHost(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 253 else { return false }
        if text.contains(":") {
            return text.utf8.allSatisfy { $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.utf8.first != UInt8(ascii: "-")
                && label.utf8.last != UInt8(ascii: "-") && label.utf8.allSatisfy(\.isLabelByte)
        }
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }

    fileprivate var isLabelByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
