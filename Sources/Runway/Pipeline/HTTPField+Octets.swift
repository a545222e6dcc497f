package import HTTPTypes

extension HTTPField {
    /// The value as it came. As text it would have U+FFFD in place of what is not UTF-8.
    package var octets: [UInt8] { withUnsafeBytesOfValue { Array($0) } }

    /// A field for clients that take values as text alone; `nil` if nothing of its value is left.
    ///
    /// Of a `Cookie` field it leaves out the cookies that are not UTF-8: a server gets a cookie unchanged or not at all (RFC 6265bis §5.6).
    package var asText: HTTPField? {
        guard name == .cookie, String(validating: octets, as: UTF8.self) == nil else { return self }
        let cookies = octets.split(separator: UInt8(ascii: ";")).compactMap { String(validating: $0, as: UTF8.self) }
        if cookies.isEmpty { return nil }
        var field = self
        field.value = String(cookies.joined(separator: ";").drop { $0 == " " })
        return field
    }

    /// Makes a field of a value that a client decoded as text; `nil` if the field needs its octets and they are lost.
    ///
    /// Such a client replaces invalid UTF-8 by U+FFFD, so that the original octets are unknown. A cookie would be sent back changed, and a
    /// redirect would lead to a target that the server did not name.
    package init?(name: Name, decodedText value: String) {
        let needsOctets = name == .setCookie || name == .location
        if needsOctets, value.unicodeScalars.contains("\u{FFFD}") { return nil }
        self.init(name: name, value: value)
    }
}
