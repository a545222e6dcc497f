/// The authority of a target URI in the form in which it is signed and compared (RFC 9110 §4.2.3).
package enum Authority {
    /// Returns the host in lower case, and the port unless it is absent, empty or the scheme's default. Returns `nil`
    /// for an authority that is empty, has no host, or has user information.
    ///
    /// - Parameter scheme: The scheme in lower case.
    package static func normalized(_ authority: String, scheme: String?) -> String? {
        if authority.isEmpty { return nil }
        // Nearly all authorities are one host in lower case.
        if isHostInLowerCase(authority) { return authority }
        guard !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
        let text = lowercased(authority)
        // The colons of an IPv6 address are within brackets.
        let afterHost = text.utf8.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        guard let colon = text[afterHost...].utf8.lastIndex(of: UInt8(ascii: ":")) else { return text }
        let host = text[..<colon]
        let port = text[colon...].dropFirst()
        guard !host.isEmpty else { return nil }
        let isDefault = scheme == "https" && port == "443" || scheme == "http" && port == "80"
        return isDefault || port.isEmpty ? String(host) : text
    }

    /// Lowercases only ASCII letters: Unicode rules would turn some other characters into ASCII letters.
    package static func lowercased(_ text: String) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return text }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether a text has no capitals of ASCII, and nothing that can begin a port or end user information or an IPv6
    /// address.
    private static func isHostInLowerCase(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            bytes.allSatisfy { byte in
                switch byte {
                case 0x41...0x5A, UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "]"): false
                default: true
                }
            }
        }
    }
}
