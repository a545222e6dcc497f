package import HTTPTypes

extension HTTPField {
    /// The value as received. The text form would contain U+FFFD in place of octets that are not UTF-8.
    package var octets: [UInt8] { withUnsafeBytesOfValue { Array($0) } }

    /// The field in the form for clients that accept values only as text; `nil` if the whole value would be lost.
    ///
    /// Cookies that are not UTF-8 are removed from a `Cookie` field: a server must receive a cookie unchanged or not at
    /// all (RFC 6265bis §5.6).
    package var asText: HTTPField? {
        guard name == .cookie, String(validating: octets, as: UTF8.self) == nil else { return self }
        let cookies = octets.split(separator: UInt8(ascii: ";")).compactMap { String(validating: $0, as: UTF8.self) }
        if cookies.isEmpty { return nil }
        var field = self
        field.value = String(cookies.joined(separator: ";").drop { $0 == " " })
        return field
    }
}

/// The fields of a response whose client decoded the values as text. Octets that are not UTF-8 became U+FFFD.
///
/// Such a field is omitted if its original octets are needed. Otherwise a changed cookie would be sent back, or a
/// redirect would lead to a target that the server did not name.
package struct DecodedFields: Sendable {
    /// The fields whose values can be used.
    package private(set) var fields = HTTPFields()
    /// The names of the omitted fields.
    package private(set) var lost: [HTTPField.Name] = []

    package init(capacity: Int) { fields.reserveCapacity(capacity) }

    /// Adds a field, or omits it if its octets are needed and lost.
    package mutating func append(_ name: HTTPField.Name, _ text: String) {
        let needsOctets = name == .setCookie || name == .location
        if needsOctets, text.unicodeScalars.contains("\u{FFFD}") {
            lost.append(name)
        } else {
            fields.append(HTTPField(name: name, value: text))
        }
    }
}
