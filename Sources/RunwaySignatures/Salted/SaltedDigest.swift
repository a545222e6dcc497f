public import HTTPTypes
import RunwayFormats

/// The digest of a request with a secret, for backends that cannot verify HTTP Message Signatures.
///
/// It covers the method, the path, the query as sent, the parameters of the query and of a form, the content type, the
/// body, a time and a nonce. It does not cover the host or any other header field. Prefer a signature wherever the
/// backend can verify it. With MD5 the digest is as weak as MD5: use MD5 only for a backend that supports nothing else.
///
/// ```swift
/// let lines = try CanonicalRequest(request, body: body, time: now, nonce: nonce)
/// request.headerFields[.runwayDigest] = try await SaltedDigest(lines, keyID: "partner-3", by: key).fieldValue
/// ```
package struct SaltedDigest: Sendable, Hashable {
    /// The identifier of the shared secret.
    package let keyID: String
    /// The algorithm that the sender claims: ``SignatureAlgorithm/saltedSHA256`` or ``SignatureAlgorithm/saltedMD5``.
    package let algorithm: SignatureAlgorithm
    /// The time when the digest was made.
    package let time: UnixTime
    /// The nonce of 16 bytes in base64url.
    package let nonce: String
    /// The bytes of the digest.
    package let signature: [UInt8]

    private static let names: [String: SignatureAlgorithm] = ["sha-256": .saltedSHA256, "md5": .saltedMD5]

    /// Makes a digest. Throws a ``SignatureError`` if the key is not for salted digests, or its identifier has
    /// characters other than letters, digits and `-._~:@/+`. Throws the errors of the signer.
    package init(_ request: CanonicalRequest, keyID: String, by signer: some MessageSigner) async throws {
        guard Self.names.values.contains(signer.algorithm) else { throw SignatureError(.invalidKey, "the secret") }
        guard Self.isKeyID(keyID[...]) else { throw SignatureError(.invalidValue, "key") }
        (self.keyID, algorithm, time, nonce) = (keyID, signer.algorithm, request.time, request.nonce)
        signature = try await signer.signature(of: request.bytes)
    }

    /// Parses the `Runway-Digest` field. Throws a ``SignatureError`` if it is absent or malformed.
    package init(_ fields: HTTPFields) throws(SignatureError) {
        let field = "runway-digest"
        let pairs = try FieldPairs(
            fields[values: .runwayDigest], names: ["v", "key", "alg", "ts", "nonce", "sig"], field: field)
        guard Self.isKeyID(pairs["key"]), let algorithm = Self.names[String(pairs["alg"])],
            let seconds = Int64(pairs["ts"]), String(seconds) == pairs["ts"], (0...999_999_999_999).contains(seconds),
            Base64.decodedForURL(pairs["nonce"])?.count == 16, let signature = Hex.decoded(pairs["sig"])
        else { throw SignatureError(.invalidValue, field) }
        (keyID, self.algorithm, time) = (String(pairs["key"]), algorithm, UnixTime(seconds: seconds))
        (nonce, self.signature) = (String(pairs["nonce"]), signature)
    }

    /// The value of the `Runway-Digest` field.
    package var fieldValue: String {
        let name = algorithm == .saltedMD5 ? "md5" : "sha-256"
        let digits = String(decoding: Hex.encoded(signature), as: UTF8.self)
        return "v=1, key=\(keyID), alg=\(name), ts=\(time.seconds), nonce=\(nonce), sig=\(digits)"
    }

    /// Returns the canonical lines of a received request, with the time and nonce of this digest. Throws a
    /// ``SignatureError`` if the request has no path, or the lines cannot be formed.
    package func canonicalRequest(of request: HTTPRequest, body: [UInt8]) throws(SignatureError) -> CanonicalRequest {
        guard let bytes = Base64.decodedForURL(nonce) else { throw SignatureError(.invalidValue, "nonce") }
        return try CanonicalRequest(request, body: body, time: time, nonce: bytes)
    }

    /// Returns whether the digest is valid for these lines and the key. The key's algorithm must be the one that the
    /// digest claims.
    package func isValid(of request: CanonicalRequest, by key: VerificationKey) -> Bool {
        key.isValid(signature, of: request.bytes) && key.algorithm == algorithm
    }

    package static func isKeyID(_ text: Substring) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-._~:@/+".utf8.contains(byte)
                }
            }
    }
}

extension HTTPField.Name {
    /// The `Runway-Digest` field: the salted digest of a request.
    public static let runwayDigest = HTTPField.Name("Runway-Digest", known: ())
    /// The `Runway-Sealed-Key` field: the encrypted secret of a caller.
    public static let runwaySealedKey = HTTPField.Name("Runway-Sealed-Key", known: ())
}
