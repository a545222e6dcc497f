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
public struct DPoPClaims: Sendable, Hashable {
    /// `jti`: a value that no other proof has.
    public var id: String
    /// `htm`: the method of the request.
    public var method: String
    /// `htu`: the target of the request, without query and fragment.
    public var target: String
    /// `iat`: the time at which the proof was made.
    public var issued: UnixTime
    /// `ath`: the SHA-256 of the access token in base64url. `nil` if the request has no access token, such as a request
    /// for one.
    public var tokenHash: String?
    /// `nonce`: the newest nonce of the server; `nil` if it sent none.
    public var nonce: String?

    /// Creates the claims for a request, with a random identifier of 128 bits. Throws a ``SignatureError`` if the
    /// request has no scheme, authority or path.
    ///
    /// - Parameters:
    ///   - request: The request in the form in which it is sent.
    ///   - token: The access token of the request; `nil` if it has none.
    ///   - nonce: The newest nonce of the server.
    ///   - now: The time of the proof.
    public init(
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

    /// Creates claims from their values.
    init(id: String, method: String, target: String, issued: UnixTime, tokenHash: String?, nonce: String?) {
        (self.id, self.method, self.target) = (id, method, target)
        (self.issued, self.tokenHash, self.nonce) = (issued, tokenHash, nonce)
    }

    /// Returns the proof: a JSON Web Token that contains the public key and is signed by the key. Throws the error of
    /// the signer, and a ``SignatureError`` if the key is not a key of `ecdsa-p256-sha256`.
    ///
    /// - Parameters:
    ///   - signer: The key that signs.
    ///   - publicKey: The public half of the key: 65 bytes, an uncompressed point of P-256.
    public func proof(by signer: any MessageSigner, publicKey: [UInt8]) async throws -> String {
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

    /// Returns the hash of an access token, for `ath`.
    static func hash(_ token: String) -> String { Base64.encodedForURL(SHA256.hash(data: Array(token.utf8))) }

    private static func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Base64.encodedForURL(try encoder.encode(value))
    }

    /// The header of the token.
    struct Header: Encodable {
        let typ: String
        let alg: String
        let jwk: PublicKeyJWK
    }

    /// The content of the token.
    struct Payload: Codable {
        let jti: String
        let htm: String
        let htu: String
        /// Seconds since 1970, which may have a fraction (RFC 7519 §2).
        let iat: Double
        let ath: String?
        let nonce: String?
    }
}

extension HTTPField.Name {
    /// `DPoP`: the proof of a request.
    public static let dpop = HTTPField.Name("DPoP", known: ())
    /// `DPoP-Nonce`: the nonce for the next proof.
    public static let dpopNonce = HTTPField.Name("DPoP-Nonce", known: ())
}
