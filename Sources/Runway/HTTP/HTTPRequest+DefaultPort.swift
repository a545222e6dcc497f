package import HTTPTypes

extension HTTPRequest {
    /// The request as a transport writes it, whose host has no default port: neither in the authority nor in the field
    /// `Host` (RFC 9110 §4.2.3).
    package var withoutDefaultPort: HTTPRequest {
        var request = self
        request.authority = authority.map(withoutDefaultPort)
        if let index = headerFields.firstIndex(where: { $0.name == Self.host }) {
            request.headerFields[index].value = withoutDefaultPort(headerFields[index].value)
        }
        return request
    }

    private static let host = HTTPField.Name("host")

    private func withoutDefaultPort(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]"),
            Int(authority[colon...].dropFirst()) == (scheme?.lowercased() == "https" ? 443 : 80)
        else { return authority }
        return String(authority[..<colon])
    }
}
