import Crypto
import Foundation
public import HTTPTypes
import RunwayFormats

/// The claims of a proof of possession about a request (DPoP, RFC 9449 §4.2).
///
/// ```swift
/// let claims = try DPoPClaims(request, token: token, at: now)
/// request.headerFields[.dpop] = try await claims.proof(by: key, publicKey: point)
/// ```
package struct DPoPClaims: Sendable, Hashable {
    /// The `jti` claim: a value unique to the proof.
    package var id: String
    /// The `htm` claim: the method of the request.
    package var method: String
    /// The `htu` claim: the target URI of the request, without query and fragment.
    package var target: String
    /// The `iat` claim: the time when the proof was created.
    package var issued: UnixTime
    /// The `ath` claim: the SHA-256 of the access token in base64url; `nil` if the request has no access token, such as
    /// a token request.
    package var tokenHash: String?
    /// The `nonce` claim: the latest nonce of the server; `nil` if the server has sent no nonce.
    package var nonce: String?

    /// Creates the claims for a request, with a random `jti` of 128 bits. Throws a ``SignatureError`` if the request
    /// has no scheme, authority or path.
    ///
    /// - Parameters:
    ///   - request: The request as it is sent.
    ///   - token: The access token of the request, or `nil`.
    ///   - nonce: The latest nonce of the server, or `nil`.
    ///   - now: The time of the proof.
    package init(
        _ request: HTTPRequest, token: String? = nil, nonce: String? = nil, at now: UnixTime
    ) throws(SignatureError) {
        guard let scheme = request.scheme, let authority = request.authority, let path = request.path else {
            throw SignatureError(.missing, "the target of the request")
        }
        id = SymmetricKey(size: .bits128).withUnsafeBytes { Base64.encodedForURL($0) }
        method = request.method.rawValue
        target = "\(scheme)://\(authority)\(path.prefix { $0 != "?" && $0 != "#" })"
        issued = now
        tokenHash = token.map(Self.hash)
        self.nonce = nonce
    }

    init(id: String, method: String, target: String, issued: UnixTime, tokenHash: String?, nonce: String?) {
        (self.id, self.method, self.target) = (id, method, target)
        (self.issued, self.tokenHash, self.nonce) = (issued, tokenHash, nonce)
    }

    /// Returns the proof: a JSON Web Token with the public key, signed by the private key. Throws the error of the
    /// signer, and a ``SignatureError`` if the algorithm of the key is not `ecdsa-p256-sha256`.
    ///
    /// - Parameters:
    ///   - signer: Signs with the private key.
    ///   - publicKey: The public key: an uncompressed P-256 point of 65 bytes.
    package func proof(by signer: any MessageSigner, publicKey: [UInt8]) async throws -> String {
        let key = PublicKeyJWK(point: publicKey)
        guard signer.algorithm == .ecdsaP256SHA256, publicKey.count == 65, key.key != nil else {
            throw SignatureError(.invalidKey, "the key of the proof")
        }
        let header = try Self.encoded(Header(typ: "dpop+jwt", alg: "ES256", jwk: key))
        let payload = try Self.encoded(
            Payload(jti: id, htm: method, htu: target, iat: Double(issued.seconds), ath: tokenHash, nonce: nonce))
        let signature = try await signer.signature(of: Array("\(header).\(payload)".utf8))
        return "\(header).\(payload).\(Base64.encodedForURL(signature))"
    }

    /// Returns the hash of an access token for `ath`.
    static func hash(_ token: String) -> String { Base64.encodedForURL(SHA256.hash(data: Array(token.utf8))) }

    private static func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Base64.encodedForURL(try encoder.encode(value))
    }

    struct Header: Encodable {
        let typ: String
        let alg: String
        let jwk: PublicKeyJWK
    }

    struct Payload: Codable {
        let jti: String
        let htm: String
        let htu: String
        /// Seconds since 1970, possibly with a fraction (RFC 7519 §2).
        let iat: Double
        let ath: String?
        let nonce: String?
    }
}

extension HTTPField.Name {
    /// The `DPoP` field: the proof of a request.
    public static let dpop = HTTPField.Name("DPoP", known: ())
    /// The `DPoP-Nonce` field: the nonce for the next proof.
    public static let dpopNonce = HTTPField.Name("DPoP-Nonce", known: ())
}
