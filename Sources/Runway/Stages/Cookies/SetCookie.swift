import Foundation

/// A `Set-Cookie` field, read as RFC 6265bis §5.6 says.
struct SetCookie: Equatable {
    var name = ""
    var value = ""
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
    init?(_ field: String) {
        // Horizontal tabs are the only controls that may stand in it.
        guard field.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else { return nil }
        // By bytes: a combining character behind a separator would make one character of both.
        let pieces = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = pieces.first.map(Substring.init) else { return nil }
        if let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
            name = String(pair[..<equals].trimmingWhitespace)
            value = String(pair[pair.utf8.index(after: equals)...].trimmingWhitespace)
        } else {
            value = String(pair.trimmingWhitespace)
        }
        guard !name.isEmpty || !value.isEmpty, name.utf8.count + value.utf8.count <= Self.maximumByteCount else {
            return nil
        }
        for piece in pieces.dropFirst() {
            let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(Substring($0).trimmingWhitespace) }
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
