import HTTPTypes

import struct Foundation.URL

/// The target of a request, so written that equivalent ones are equal (RFC 9110 §4.2.3, RFC 3986 §6.2.2).
struct HTTPCacheURI: Hashable, Sendable {
    /// The URI.
    let text: String

    /// The target of a request.
    init(_ head: HTTPRequest) {
        let scheme = (head.scheme ?? "").lowercased()
        var authority = (head.authority ?? "").lowercased()
        let defaultPort = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(defaultPort) { authority.removeLast(defaultPort.count) }
        if authority.hasSuffix(":") { authority.removeLast() }
        var path = head.path ?? "/"
        if !path.hasPrefix("/") { path = "/" + path }
        if path.utf8.contains(0x25) { path = Self.normalisedPercentEncoding(path) }
        text = "\(scheme)://\(authority)\(path)"
    }

    /// What a field of the answer to `head` points to; `nil` where it can't be read, or is of another origin.
    init?(_ reference: String, from head: HTTPRequest) {
        guard let base = URL(string: "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"),
            let url = URL(string: reference, relativeTo: base)?.absoluteURL, let scheme = url.scheme,
            let host = url.host(percentEncoded: true)
        else { return nil }
        var target = head
        target.scheme = scheme
        target.authority = (host.contains(":") ? "[\(host)]" : host) + (url.port.map { ":\($0)" } ?? "")
        target.path = url.path(percentEncoded: true) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
        guard Origin(target) == Origin(head) else { return nil }
        self.init(target)
    }

    /// The text with capital hexadecimal digits, and without codes for characters that need none.
    private static func normalisedPercentEncoding(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                let byte = high << 4 | low
                if isUnreserved(byte) {
                    result.append(byte)
                } else {
                    result += [0x25, capital(bytes[index + 1]), capital(bytes[index + 2])]
                }
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func capital(_ digit: UInt8) -> UInt8 { digit >= 0x61 ? digit - 0x20 : digit }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
