/// The target URI of a request, prepared for comparison: without query and fragment, with syntax-based and scheme-based
/// normalisation (RFC 9449 §4.3, RFC 3986 §6.2.2 and §6.2.3). Segments `.` and `..` are not removed, since requests do
/// not contain them.
struct DPoPTarget: Hashable {
    private let text: String

    /// Parses and normalises a URL. Returns `nil` if the text is not an HTTP URL, or has user information.
    init?(_ url: String) {
        guard let end = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<end.lowerBound].lowercased()
        let rest = url[end.upperBound...].prefix { $0 != "?" && $0 != "#" }
        var authority = rest.prefix { $0 != "/" }.lowercased()
        let path = rest.drop { $0 != "/" }
        guard ["http", "https"].contains(scheme), !authority.isEmpty, !authority.contains("@") else { return nil }
        let port = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        text = "\(scheme)://\(authority)" + (path.isEmpty ? "/" : Self.normalized(path))
    }

    /// Decodes percent-encoded unreserved characters, and writes other percent-encodings with uppercase digits.
    private static func normalized(_ path: Substring) -> String {
        var result: [UInt8] = []
        var octets = Array(path.utf8)[...]
        while let octet = octets.popFirst() {
            let digits = octets.prefix(2)
            guard octet == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy({ Character(.init($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else {
                result.append(octet)
                continue
            }
            octets = octets.dropFirst(2)
            if isUnreserved(value) {
                result.append(value)
            } else {
                result += "%".utf8
                result += String(decoding: digits, as: UTF8.self).uppercased().utf8
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(octet)
        }
    }
}
