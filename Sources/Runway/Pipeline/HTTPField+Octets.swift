package import HTTPTypes

extension HTTPField {
    /// The value as it was received. As text it would have U+FFFD in place of octets that are not UTF-8.
    package var octets: [UInt8] { withUnsafeBytesOfValue { Array($0) } }

    /// The field for clients that accept values only as text; `nil` if nothing of its value is left.
    ///
    /// A `Cookie` field loses the cookies that are not UTF-8: a server gets a cookie unchanged or not at all (RFC
    /// 6265bis §5.6).
    package var asText: HTTPField? {
        guard name == .cookie, String(validating: octets, as: UTF8.self) == nil else { return self }
        let cookies = octets.split(separator: UInt8(ascii: ";")).compactMap { String(validating: $0, as: UTF8.self) }
        if cookies.isEmpty { return nil }
        var field = self
        field.value = String(cookies.joined(separator: ";").drop { $0 == " " })
        return field
    }
}

/// The fields of a response whose client decoded their values as text. Octets that are not UTF-8 became U+FFFD.
///
/// Fields whose original octets are needed are left out if these are lost: a cookie would be sent back changed, and a
/// redirect would lead to a target that the server did not name.
package struct DecodedFields: Sendable {
    /// The fields whose values can be used.
    package private(set) var fields = HTTPFields()
    /// The names of those that were left out.
    package private(set) var lost: [HTTPField.Name] = []

    /// Creates an empty list with capacity for some fields.
    package init(capacity: Int) { fields.reserveCapacity(capacity) }

    /// Adds a field, or leaves it out.
    package mutating func append(_ name: HTTPField.Name, _ text: String) {
        let needsOctets = name == .setCookie || name == .location
        if needsOctets, text.unicodeScalars.contains("\u{FFFD}") {
            lost.append(name)
        } else {
            fields.append(HTTPField(name: name, value: text))
        }
    }
}
