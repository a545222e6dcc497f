import Foundation

/// A `Set-Cookie` field, read as RFC 6265bis §5.6 says.
struct SetCookie: Equatable {
    var name: [UInt8] = []
    var value: [UInt8] = []
    /// The latest `Expires` and `Max-Age` that can be read; the second counts where both are there.
    var expires: Date?
    var maximumAge: TimeInterval?
    /// In lower case and without a dot at its start; `nil` where the attribute is missing or empty.
    var domain: String?
    /// `nil` where the attribute is missing or names no path.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = Cookie.SameSite.default

    /// The most bytes of name and value together.
    static let maximumByteCount = 4096
    /// The most bytes of an attribute's value; longer ones are passed over.
    static let maximumAttributeByteCount = 1024
    /// The longest that a cookie is kept (RFC 6265bis §5.5).
    static let maximumLifetime: TimeInterval = 400 * 24 * 3600

    /// Reads a field; `nil` for one that is to be ignored.
    init?(_ field: [UInt8]) {
        // Horizontal tabs are the only controls that may stand in it.
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

    /// Seconds; digits that no number holds are more than any cookie may live.
    private static func age(_ text: String) -> TimeInterval? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.hasPrefix("-") ? 0 : TimeInterval(Int(digits) ?? .max)
    }

    /// When the cookie ends if it came at a date; `nil` for one that ends with the process.
    func expiry(at date: Date) -> Date? {
        let latest = date.addingTimeInterval(Self.maximumLifetime)
        if let maximumAge {
            return maximumAge <= 0 ? .distantPast : min(latest, date.addingTimeInterval(maximumAge))
        }
        return expires.map { min(latest, $0) }
    }
}

extension ArraySlice<UInt8> {
    /// Without the spaces and tabs at both ends.
    fileprivate var trimmed: [UInt8] {
        let isBlank = { (octet: UInt8) in octet == 0x20 || octet == 0x09 }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return [] }
        return Array(self[...last].drop(while: isBlank))
    }
}
