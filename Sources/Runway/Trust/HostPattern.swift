/// A host, optionally with all hosts below it.
package struct HostPattern: Sendable, Hashable {
    package let host: String
    package let includesSubdomains: Bool

    /// - Parameter host: A host as ``normal(_:)`` returns it.
    package init(host: String, includesSubdomains: Bool) {
        self.host = host
        self.includesSubdomains = includesSubdomains
    }

    package func matches(_ other: String) -> Bool {
        let other = Self.normal(other)
        return other == host || includesSubdomains && other.hasSuffix(".\(host)")
    }

    /// Returns a host in the form in which hosts are compared: as in ``Origin/host``, but without brackets.
    package static func normal(_ host: String) -> String {
        // An IPv6 address has many spellings, with or without brackets.
        if host.contains(":"), let address = IPAddress(host) { return "\(address)" }
        return Origin(scheme: "https", host: host, port: 443).bareHost
    }

    /// Returns whether a text can be a host: labels of letters, digits and hyphens, or an address.
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
