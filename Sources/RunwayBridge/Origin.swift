/// One trust domain of pages: a web server's scheme, host and port, or a bundle of the app.
///
/// Origins are compared as a whole. There are no wildcards: `https://example.com` is neither `https://m.example.com`
/// nor `https://example.com:8443`. All frames and scripts of one origin have the same rights.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// The origin as a browser writes it, such as `https://m.example.com:8443`.
    public let description: String

    /// Whether the pages come from a bundle of the app.
    public let isEmbedded: Bool

    /// The scheme under which an app shows the pages of its bundles.
    package static let bundleScheme = "runway-bundle"

    private init(_ text: String, isEmbedded: Bool) {
        description = text
        self.isEmbedded = isEmbedded
    }

    /// The pages of a bundle that is embedded in the app.
    ///
    /// - Parameter name: Small letters, digits and hyphens.
    public static func bundle(_ name: String) -> Origin {
        guard let origin = Origin(serialized: "\(bundleScheme)://\(name)") else {
            preconditionFailure("the name of a bundle is made of small letters, digits and hyphens")
        }
        return origin
    }

    /// Creates the origin of a web server.
    ///
    /// - Parameter text: `https://`, a host in small letters, and a port unless it is 443. A name in another script is
    ///   in Punycode. `http://` is possible for `localhost`, `127.0.0.1` and `[::1]` only.
    /// - Returns: `nil` if `text` is anything else, for example has a path, user information or a dot at the end.
    public init?(_ text: String) {
        guard let origin = Origin(serialized: text), !origin.isEmbedded else { return nil }
        self = origin
    }

    /// Reads an origin that a browser has written. Returns `nil` for opaque origins and other schemes.
    package init?(serialized text: String) {
        guard text.utf8.count <= 300, let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound]
        let authority = text[mark.upperBound...]
        let colon = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        let host = authority[..<(colon ?? authority.endIndex)]
        let port = colon.map { authority[authority.index(after: $0)...] }
        guard Self.isHost(host) else { return nil }
        if let port {
            guard let number = UInt16(port), number > 0, String(number) == port else { return nil }
        }
        switch scheme {
        case "https" where port != "443": self.init(text, isEmbedded: false)
        case "http" where port != "80" && ["localhost", "127.0.0.1", "[::1]"].contains(host):
            self.init(text, isEmbedded: false)
        case Substring(Self.bundleScheme) where port == nil && !host.utf8.contains(UInt8(ascii: ".")):
            self.init(text, isEmbedded: true)
        default: return nil
        }
    }

    /// Whether a host is written as browsers write it: in small ASCII letters, without a dot at its end.
    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            let digits = host.dropFirst().dropLast().utf8
            return !digits.isEmpty && digits.allSatisfy { isSmallLetter($0, until: "f") || isDigit($0) || $0 == 0x3A }
        }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { isSmallLetter($0, until: "z") || isDigit($0) || $0 == 0x2D }
        }
    }

    private static func isSmallLetter(_ byte: UInt8, until last: Unicode.Scalar) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: last)).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
