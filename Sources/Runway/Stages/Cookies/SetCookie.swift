import Foundation

/// A `Set-Cookie` field, parsed as RFC 6265bis §5.6 requires.
struct SetCookie: Equatable {
    var name: [UInt8] = []
    var value: [UInt8] = []
    /// The date from the last valid `Max-Age`, or else from the last valid `Expires`.
    var expires: Date?
    var maximumAge: TimeInterval?
    /// The domain in lower case without a leading dot; `nil` if the attribute is missing or empty.
    var domain: String?
    /// The path; `nil` if the attribute is missing or not a path.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = Cookie.SameSite.default

    /// The maximum number of bytes of name and value together.
    static let maximumByteCount = 4096
    /// The maximum number of bytes of an attribute's value. Longer attributes are ignored.
    static let maximumAttributeByteCount = 1024
    /// The maximum lifetime of a cookie (RFC 6265bis §5.5), in seconds.
    static let maximumLifetime: TimeInterval = 400 * 24 * 3600

    /// Parses a field. Returns `nil` if the field must be ignored.
    init?(_ field: [UInt8]) {
        // Horizontal tabs are the only control characters that are allowed.
        guard field.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else { return nil }
        let pieces = field.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = pieces.first else { return nil }
        if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
            name = pair[..<equals].trimmed
            value = pair[(equals + 1)...].trimmed
        } else {
            value = pair.trimmed
        }
        guard !name.isEmpty || !value.isEmpty, name.count + value.count <= Self.maximumByteCount else { return nil }
        for piece in pieces.dropFirst() {
            let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: $0.trimmed, as: UTF8.self) }
            let text = parts.count > 1 ? parts[1] : ""
            if text.utf8.count <= Self.maximumAttributeByteCount { read((parts.first ?? "").lowercased(), text) }
        }
    }

    private mutating func read(_ attribute: String, _ text: String) {
        switch attribute {
        case "expires": if let date = CookieDate.date(text) { expires = date }
        case "max-age": if let age = Self.age(text) { maximumAge = age }
        case "domain":
            let name = (text.hasPrefix(".") ? String(text.dropFirst()) : text).lowercased()
            domain = name.isEmpty ? nil : name
        case "path": path = text.hasPrefix("/") ? text : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(rawValue: text.lowercased()) ?? .default
        default: break
        }
    }

    /// Parses a number of seconds. A number that is too large counts as longer than any lifetime.
    private static func age(_ text: String) -> TimeInterval? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.hasPrefix("-") ? 0 : TimeInterval(Int(digits) ?? .max)
    }

    /// Returns the date at which a cookie that was received at `date` expires, or `nil` if it expires with the process.
    func expiry(at date: Date) -> Date? {
        let latest = date.addingTimeInterval(Self.maximumLifetime)
        if let maximumAge {
            return maximumAge <= 0 ? .distantPast : min(latest, date.addingTimeInterval(maximumAge))
        }
        return expires.map { min(latest, $0) }
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without leading and trailing spaces and tabs.
    fileprivate var trimmed: [UInt8] {
        let isBlank = { (octet: UInt8) in octet == 0x20 || octet == 0x09 }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return [] }
        return Array(self[...last].drop(while: isBlank))
    }
}
