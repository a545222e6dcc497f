import HTTPTypes
import Runway

/// The head of a request as it is sent, for any version of HTTP.
struct WireRequestHead: Sendable {
    let method: HTTPRequest.Method
    let scheme: String
    /// Host and port, without the scheme's default port.
    let authority: String
    /// Path and query, escaped.
    let target: String
    /// The authority of the URL, without the scheme's default port. Connections are established to its host, even if
    /// the `Host` field names another host.
    private let urlAuthority: String
    /// The fields, without `Host`, `Content-Length`, `Transfer-Encoding` and `Expect: 100-continue`.
    let fields: HTTPFields
    /// The length of the body to send; `nil` if it is unknown, or if it is 0 and the method usually has no body.
    let contentLength: Int?
    /// Whether the body has an unknown length.
    let hasUnknownLength: Bool
    private let asksForContinue: Bool

    /// - Throws: ``WireError/unusableURL(_:)``, ``WireError/traceWithBody``, or `RequestBodyFailure.wrongLength` if the
    /// declared length is negative.
    init(_ request: Request, isTransparent: Bool) throws {
        let head = request.head
        method = head.method
        scheme = try Self.scheme(head)
        target = isTransparent ? head.receivedTarget : head.escapedTarget
        urlAuthority = try Self.authority(head.authority, scheme: scheme)
        // A caller such as a proxy may set a host that differs from the URL's.
        let named = HTTPField.Name("host").flatMap { head.headerFields[$0] }
        authority = if let named { try Self.authority(named, scheme: scheme) } else { urlAuthority }
        var fields = head.headerFields
        asksForContinue = fields[.expect]?.lowercased() == "100-continue"
        if let name = HTTPField.Name("host") { fields[name] = nil }
        // The caller's field may be wrong, so the length of the actual body replaces it.
        fields[.contentLength] = nil
        fields[.transferEncoding] = nil
        if asksForContinue { fields[.expect] = nil }
        if !isTransparent {
            if fields[.acceptEncoding] == nil {
                // A response to HEAD has no body to compress, and the fields of the uncoded body are more useful. A
                // range counts bytes of the coded body, and a part of it cannot be decoded.
                let isPlain = method == .head || fields[.range] != nil
                fields[.acceptEncoding] = isPlain ? "identity" : ContentCoding.accepted
            }
            if fields[.userAgent] == nil { fields[.userAgent] = "runway" }
        }
        self.fields = fields
        let byteCount = request.body.byteCount
        if let byteCount, byteCount < 0 { throw RequestBodyFailure.wrongLength }
        // A length of 0 is sent only for methods that usually have a body (RFC 9110 §8.6).
        contentLength = byteCount == 0 && ![.post, .put, .patch].contains(method) ? nil : byteCount
        hasUnknownLength = byteCount == nil
        if method == .trace, hasBody { throw WireError.traceWithBody }
    }

    /// The target in absolute form (RFC 9112 §3.2.2); for `OPTIONS *` without a path (§3.2.4).
    var absoluteTarget: String { "\(scheme)://\(urlAuthority)\(target == "*" ? "" : target)" }

    /// Whether bytes follow the head or may follow it.
    var hasBody: Bool { hasUnknownLength || (contentLength ?? 0) > 0 }

    /// Returns whether the body is sent only after status 100.
    func expectsContinue(_ settings: WireSettings) -> Bool {
        guard hasBody else { return false }
        guard let threshold = settings.expectContinueByteCount else { return asksForContinue }
        return asksForContinue || (contentLength ?? .max) >= threshold
    }

    private static func scheme(_ head: HTTPRequest) throws(WireError) -> String {
        let scheme = (head.scheme ?? "").lowercased()
        guard scheme == "https" || scheme == "http" else { throw .unusableURL("its scheme is not http or https") }
        return scheme
    }

    /// Returns host and port, without the scheme's default port.
    private static func authority(_ authority: String?, scheme: String) throws(WireError) -> String {
        guard let authority, !authority.isEmpty else { throw .unusableURL("it names no host") }
        guard authority.utf8.allSatisfy(\.isAuthorityCharacter) else {
            throw .unusableURL("its host contains a character that no host may have")
        }
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return authority }
        let port = authority[authority.index(after: colon)...]
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port), (1...65535).contains(number)
        else { throw .unusableURL("its port is invalid") }
        return number == (scheme == "https" ? 443 : 80) ? String(authority[..<colon]) : authority
    }
}

extension UInt8 {
    /// Whether the byte may occur in a host, a port, or the brackets of an IPv6 literal (RFC 3986 §3.2.2).
    fileprivate var isAuthorityCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
