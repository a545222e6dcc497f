import Crypto
public import HTTPTypes

/// The lines of a request that a salted digest covers, and that a sealed key is bound to.
///
/// They do not have the host, which a backend for this format seldom knows. `docs/formats.md` states them to the byte.
public struct CanonicalRequest: Sendable, Hashable {
    /// The lines, joined by LF.
    let bytes: [UInt8]
    let time: UnixTime
    let nonce: String

    /// Throws a ``SignatureError`` if the request has no path, or the path is not ASCII.
    ///
    /// - Parameters:
    ///   - request: The request. If its content type is `application/x-www-form-urlencoded`, the parameters of the body are covered
    /// like those of the query.
    ///   - body: The whole body; empty for a request without a body.
    ///   - time: When the digest is made.
    ///   - nonce: 16 random bytes.
    public init(_ request: HTTPRequest, body: [UInt8], time: UnixTime, nonce: [UInt8]) throws(SignatureError) {
        precondition(nonce.count == 16, "The nonce of a salted digest has 16 bytes")
        let target = RequestTarget(request)
        guard let path = target.path, let query = target.query else { throw SignatureError(.missing, "the path") }
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SignatureError(.invalidValue, "the path")
        }
        self.time = time
        self.nonce = Base64.encodedForURL(nonce)
        var pairs = Self.pairs(of: query.dropFirst().utf8)
        let type = request.headerFields[.contentType]?.prefix { $0 != ";" }.lowercased().trimmingBlanksInText()
        if type == "application/x-www-form-urlencoded" { pairs += Self.pairs(of: body) }
        pairs.sort {
            $0.name == $1.name
                ? $0.value.lexicographicallyPrecedes($1.value) : $0.name.lexicographicallyPrecedes($1.name)
        }
        let parameters = pairs.map { $0.name + [UInt8(ascii: "=")] + $0.value }.joined(separator: [UInt8(ascii: "&")])
        let lines: [[UInt8]] = [
            Array("runway-digest-1".utf8), Array(request.method.rawValue.utf8), Array(path.utf8), Array(parameters),
            Hex.encoded(Array(SHA256.hash(data: body))), Array(String(time.seconds).utf8), Array(self.nonce.utf8),
        ]
        bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// The parameters, decoded and encoded anew by RFC 3986 §2.3. Names and values are bytes: they need not be UTF-8.
    private static func pairs(of text: some Collection<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        text.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (encoded(parts[0]), parts.count == 2 ? encoded(parts[1]) : [])
        }
    }

    private static func encoded(_ text: some Collection<UInt8>) -> [UInt8] {
        FormEncoding.decoded(text).flatMap { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: [byte]
            default: FormEncoding.percentEncoded(byte)
            }
        }
    }
}

extension String {
    fileprivate func trimmingBlanksInText() -> String { String(decoding: Array(utf8).trimmingBlanks(), as: UTF8.self) }
}
