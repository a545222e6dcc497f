/// Normalizes the authority of a target URI for signing and comparing (RFC 9110 §4.2.3).
package enum Authority {
    /// Returns the lowercase host and the port. The port is omitted if it is empty or the scheme's default. Returns
    /// `nil` if the authority is empty, has no host, or has user information.
    ///
    /// - Parameter scheme: The scheme in lower case.
    package static func normalized(_ authority: String, scheme: String?) -> String? {
        if authority.isEmpty { return nil }
        // This is the fast path, since nearly all authorities are a lowercase host without a port.
        if isHostInLowerCase(authority) { return authority }
        guard !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
        let text = lowercased(authority)
        // Colons of an IPv6 address are within the brackets.
        let afterHost = text.utf8.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        guard let colon = text[afterHost...].utf8.lastIndex(of: UInt8(ascii: ":")) else { return text }
        let host = text[..<colon]
        let port = text[colon...].dropFirst()
        guard !host.isEmpty else { return nil }
        let isDefault = scheme == "https" && port == "443" || scheme == "http" && port == "80"
        return isDefault || port.isEmpty ? String(host) : text
    }

    /// Lowercases only ASCII letters: Unicode rules would turn the Kelvin sign into "k".
    package static func lowercased(_ text: String) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return text }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Returns whether a text has no ASCII capitals, and no character that can begin a port or an IPv6 address or end
    /// user information.
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
