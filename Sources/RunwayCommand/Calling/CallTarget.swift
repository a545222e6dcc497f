import Foundation
import Runway

/// The URL of a call, taken apart without changing what its path and query say.
struct CallTarget: Equatable {
    let scheme: String
    let authority: String
    /// Path and query, beginning with a slash. Only what a request line can't hold is percent-encoded.
    private(set) var path: String

    /// The port; the scheme's own where the URL names none.
    let port: Int
    /// The host without its port.
    let host: String

    /// Reads an absolute `http` or `https` URL.
    ///
    /// - Throws: ``CommandFailure`` that says what is wrong with it.
    init(_ text: String) throws(CommandFailure) {
        guard let mark = text.firstRange(of: "://") else {
            throw CommandFailure("The URL \"\(text)\" is not absolute; it wants the form https://host[:port]/path.")
        }
        scheme = text[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw CommandFailure("The URL \"\(text)\" has the scheme \"\(scheme)\"; only http and https can be called.")
        }
        let rest = text[mark.upperBound...].prefix { $0 != "#" }
        let authority = String(rest.prefix { $0 != "/" && $0 != "?" })
        guard !authority.contains("@") else {
            throw CommandFailure(
                "The URL has a user name in it; give credentials as a header: 'Authorization:Basic …'.")
        }
        guard !authority.isEmpty, authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let components = URLComponents(string: "\(scheme)://\(authority)"),
            let host = components.percentEncodedHost, Self.isHost(host)
        else {
            throw CommandFailure(
                "The URL \"\(text)\" has no host and port that can be called, such as example.com:8080 or [::1].")
        }
        port = components.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65535).contains(port) else {
            throw CommandFailure("The URL \"\(text)\" has the port \(port); ports are from 1 to 65535.")
        }
        self.host = host
        self.authority = authority.hasSuffix(":") ? String(authority.dropLast()) : authority
        path = Self.percentEncoded(rest.dropFirst(authority.count))
        if !path.hasPrefix("/") { path = "/" + path }
    }

    /// Adds pairs that are percent-encoded already to the query.
    mutating func appendQuery(_ pairs: String) {
        if pairs.isEmpty { return }
        let separator = !path.contains("?") ? "?" : path.hasSuffix("?") || path.hasSuffix("&") ? "" : "&"
        path += separator + pairs
    }

    /// Whether the text is a name, or an IPv6 address in brackets (RFC 3986 §3.2.2).
    private static func isHost(_ text: String) -> Bool {
        guard text.hasPrefix("[") else { return !text.isEmpty && !text.contains { "]%".contains($0) } }
        return text.hasSuffix("]") && IPAddress(String(text.dropFirst().dropLast()))?.family == .v6
    }

    /// The text with what can't stand in a path or query (RFC 3986 §3.3, §3.4) as `%XX`. Escapes stay as they are; a
    /// percent sign that begins none is escaped itself.
    private static func percentEncoded(_ text: Substring) -> String {
        var encoded = ""
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            let digits = bytes[(index + 1)...].prefix(2)
            let beginsEscape = digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            let isAllowed = byte > 0x20 && byte < 0x7F && !"\"<>[\\]^`{|}".utf8.contains(byte)
            if isAllowed, byte != UInt8(ascii: "%") || beginsEscape {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let hexadecimal = String(byte, radix: 16, uppercase: true)
                encoded += byte < 16 ? "%0\(hexadecimal)" : "%\(hexadecimal)"
            }
        }
        return encoded
    }
}
