import HTTPTypes
import Runway

/// The head of a request as it is sent, whatever the version of HTTP.
struct WireRequestHead: Sendable {
    let method: HTTPRequest.Method
    let scheme: String
    /// Host and port, the port left out where it is the scheme's own.
    let authority: String
    /// Path and query, escaped.
    let target: String
    /// The fields, without those that say where the request ends or what the connection does.
    let fields: HTTPFields
    /// The length of the body; `nil` where it is not known, or where nothing is to be said of it.
    let contentLength: Int?
    /// Whether there is a body of unknown length.
    let hasUnknownLength: Bool
    private let asksForContinue: Bool

    /// - Throws: ``WireError/unusableURL(_:)``, ``WireError/traceWithBody``, or `RequestBodyFailure.wrongLength` where the body is said
    ///   to have a length below zero.
    init(_ request: Request, isTransparent: Bool) throws {
        let head = request.head
        method = head.method
        scheme = try Self.scheme(head)
        target = head.escapedTarget
        authority = try Self.authority(head, scheme: scheme)
        var fields = head.headerFields
        asksForContinue = fields[.expect]?.lowercased() == "100-continue"
        if let name = HTTPField.Name("host") { fields[name] = nil }
        // What the caller says of the length may be wrong; the body itself knows.
        fields[.contentLength] = nil
        fields[.transferEncoding] = nil
        if asksForContinue { fields[.expect] = nil }
        if !isTransparent {
            if fields[.acceptEncoding] == nil {
                // The answer to HEAD has no body to save, and its fields are of most use where they speak of the plain one. A range
                // is counted in the bytes of the coded body, of which no part can be decoded alone.
                let isPlain = method == .head || fields[.range] != nil
                fields[.acceptEncoding] = isPlain ? "identity" : ContentCoding.accepted
            }
            if fields[.userAgent] == nil { fields[.userAgent] = "runway" }
        }
        self.fields = fields
        let byteCount = request.body.byteCount
        if let byteCount, byteCount < 0 { throw RequestBodyFailure.wrongLength }
        // Only a method that usually has a body says that it has none (RFC 9110 §8.6).
        contentLength = byteCount == 0 && ![.post, .put, .patch].contains(method) ? nil : byteCount
        hasUnknownLength = byteCount == nil
        if method == .trace, hasBody { throw WireError.traceWithBody }
    }

    /// Whether bytes follow the head, or may follow it.
    var hasBody: Bool { hasUnknownLength || (contentLength ?? 0) > 0 }

    /// Whether the body waits for the server's word.
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

    private static func authority(_ head: HTTPRequest, scheme: String) throws(WireError) -> String {
        // A caller that names the host otherwise than the URL does, such as a proxy, means it.
        let named = HTTPField.Name("host").flatMap { head.headerFields[$0] }
        guard let authority = named ?? head.authority, !authority.isEmpty else {
            throw .unusableURL("it names no host")
        }
        guard authority.utf8.allSatisfy(\.mayStandInAuthority) else {
            throw .unusableURL("its host holds what no host may hold")
        }
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return authority }
        let port = authority[authority.index(after: colon)...]
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port), (1...65535).contains(number)
        else { throw .unusableURL("its port is none") }
        return number == (scheme == "https" ? 443 : 80) ? String(authority[..<colon]) : authority
    }
}

extension UInt8 {
    /// Letters, digits, and what else a host, a port and the brackets of an IPv6 literal are made of (RFC 3986 §3.2.2).
    fileprivate var mayStandInAuthority: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
