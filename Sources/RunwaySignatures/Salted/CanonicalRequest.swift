import Crypto
package import HTTPTypes

/// The canonical lines of a request, which a salted digest covers and to which a sealed key is bound.
///
/// They do not contain the host, which backends for this format seldom know. `docs/formats.md` defines the bytes.
package struct CanonicalRequest: Sendable, Hashable {
    /// The lines, joined by LF.
    package let bytes: [UInt8]
    let time: UnixTime
    package let nonce: String

    /// Creates the lines. Throws a ``SignatureError`` if the request has no path, the path is not ASCII, the query has
    /// spaces or control characters, or the query or form has more than 4,096 parameters.
    ///
    /// - Parameters:
    ///   - request: The request, with the content type that is sent.
    ///   - body: The whole body; empty for a request without a body. If the content type is
    ///     `application/x-www-form-urlencoded`, both the bytes and the parameters of the body are covered.
    ///   - time: The time when the digest is made.
    ///   - nonce: 16 random bytes.
    package init(_ request: HTTPRequest, body: [UInt8], time: UnixTime, nonce: [UInt8]) throws(SignatureError) {
        precondition(nonce.count == 16, "The nonce of a salted digest has 16 bytes")
        let target = RequestTarget(request)
        guard let path = target.path, let query = target.query else { throw SignatureError(.missing, "the path") }
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SignatureError(.invalidValue, "the path")
        }
        guard query.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw SignatureError(.invalidValue, "the query")
        }
        self.time = time
        self.nonce = Base64.encodedForURL(nonce)
        let contentType = Self.contentType(of: request.headerFields)
        let isForm = Self.isForm(contentType)
        let lines: [[UInt8]] = [
            Array("runway-digest-1".utf8), Array(request.method.rawValue.utf8), Array(path.utf8),
            // The raw query is covered too, since handlers may distinguish different encodings of equal parameters.
            Array(query.utf8), try Self.parameters(of: query.dropFirst().utf8), contentType,
            isForm ? try Self.parameters(of: body) : [],
            Hex.encoded(Array(SHA256.hash(data: body))), Array(String(time.seconds).utf8), Array(self.nonce.utf8),
        ]
        bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// Returns the lines of the `Content-Type` field, joined as in RFC 9110 §5.2; empty if the field is absent.
    private static func contentType(of fields: HTTPFields) -> [UInt8] {
        let lines = fields[fields: .contentType].map { $0.withUnsafeBytesOfValue { Array($0.trimmingBlanks()) } }
        return Array(lines.joined(separator: ", ".utf8))
    }

    private static func isForm(_ contentType: [UInt8]) -> Bool {
        let type = Array(contentType.prefix { $0 != UInt8(ascii: ";") }.trimmingBlanks())
        return String(decoding: type, as: UTF8.self).lowercased() == "application/x-www-form-urlencoded"
    }

    /// Returns the parameters sorted by name. Parameters with equal names retain their order, since the order decides
    /// which one a server uses.
    private static func parameters(of text: some Collection<UInt8>) throws(SignatureError) -> [UInt8] {
        try FormEncoding.checkCount(of: text)
        let pairs = pairs(of: text).enumerated().sorted { left, right in
            left.element.name == right.element.name
                ? left.offset < right.offset : left.element.name.lexicographicallyPrecedes(right.element.name)
        }
        var result: [UInt8] = []
        for (_, pair) in pairs {
            if !result.isEmpty { result.append(UInt8(ascii: "&")) }
            result += pair.name
            result.append(UInt8(ascii: "="))
            result += pair.value
        }
        return result
    }

    /// Returns the parameters, decoded and encoded again by RFC 3986 §2.3. Names and values are bytes, which need not
    /// be UTF-8.
    private static func pairs(of text: some Collection<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        text.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (encoded(parts[0]), parts.count == 2 ? encoded(parts[1]) : [])
        }
    }

    private static func encoded(_ text: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for byte in FormEncoding.decoded(text) {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: result.append(byte)
            default: FormEncoding.appendPercentEncoded(byte, to: &result)
            }
        }
        return result
    }
}
