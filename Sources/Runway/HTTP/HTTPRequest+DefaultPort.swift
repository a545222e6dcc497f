package import HTTPTypes

extension HTTPRequest {
    /// The request without the scheme's default port in the authority and in the `Host` field (RFC 9110 §4.2.3).
    /// Transports send this form.
    package var withoutDefaultPort: HTTPRequest {
        // Few requests contain a default port, and any change copies all header fields.
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

    /// Returns an authority without its port, or `nil` if it has no port or a port other than the default.
    private func withoutDefaultPort(_ authority: String) -> String? {
        let octets = authority.utf8
        guard let colon = octets.lastIndex(of: UInt8(ascii: ":")), !octets[colon...].contains(UInt8(ascii: "]")),
            Int(authority[octets.index(after: colon)...]) == (scheme?.lowercased() == "https" ? 443 : 80)
        else { return nil }
        return String(authority[..<colon])
    }
}
