package import HTTPTypes

extension HTTPRequest {
    /// The request as a transport writes it, whose host has no default port: neither in the authority nor in the field
    /// `Host` (RFC 9110 §4.2.3).
    package var withoutDefaultPort: HTTPRequest {
        // Few requests have one, and any change copies the whole head.
        var request = self
        if let authority, let bare = withoutDefaultPort(authority) { request.authority = bare }
        if let index = headerFields.firstIndex(where: { $0.name == Self.host }),
            let bare = withoutDefaultPort(headerFields[index].value)
        {
            request.headerFields[index].value = bare
        }
        return request
    }

    private static let host = HTTPField.Name("host")

    /// Returns an authority without its port; `nil` if it has no port, or another than the default.
    private func withoutDefaultPort(_ authority: String) -> String? {
        let octets = authority.utf8
        guard let colon = octets.lastIndex(of: UInt8(ascii: ":")), !octets[colon...].contains(UInt8(ascii: "]")),
            Int(authority[octets.index(after: colon)...]) == (scheme?.lowercased() == "https" ? 443 : 80)
        else { return nil }
        return String(authority[..<colon])
    }
}
