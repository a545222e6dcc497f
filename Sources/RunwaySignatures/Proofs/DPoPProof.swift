import Crypto
import Foundation
public import HTTPTypes

/// A verified proof of possession (DPoP, RFC 9449 §4.3): its author has the key, and made the proof for this request.
///
/// ```swift
/// let proof = try DPoPProof(of: request, token: token, boundTo: thumbprint, by: rules, at: now)
/// let isNew = nonces.claim(proof.replay, at: now) == .claimed
/// ```
///
/// Verifying stores nothing. A server that must refuse a proof that is sent twice claims ``replay`` at a
/// ``NonceStore``.
public struct DPoPProof: Sendable, Hashable {
    /// The verified claims of the proof.
    package let claims: DPoPClaims
    /// The thumbprint of the key (RFC 7638). The server binds the tokens that it issues to this thumbprint, in the
    /// `jkt` member of `cnf` (RFC 9449 §6.1).
    public let keyThumbprint: String
    /// A nonce that identifies the proof. The server must record it as used, so that the proof is accepted only once.
    public let replay: Nonce

    /// The maximum size of a proof in bytes.
    public static let maximumBytes = 8_192

    /// Verifies the proof of a request. Throws a ``DPoPRefusal``.
    ///
    /// - Parameters:
    ///   - request: The request, with the server's public scheme and authority.
    ///   - token: The access token of the request; `nil` for a request without one, such as a token request.
    ///   - thumbprint: The thumbprint to which the token is bound; `nil` for a token request. The new token is then
    ///     bound to ``keyThumbprint``.
    ///   - rules: The requirements for a proof.
    ///   - now: The server's time.
    public init(
        of request: HTTPRequest, token: String? = nil, boundTo thumbprint: String? = nil,
        by rules: DPoPRules = DPoPRules(),
        at now: UnixTime
    ) throws(DPoPRefusal) {
        let proofs = request.headerFields[values: .dpop]
        guard let text = proofs.first, proofs.count == 1 else { throw .malformed }
        let token = (token.map(DPoPClaims.hash), thumbprint)
        (claims, keyThumbprint) = try Self.read(text)
        guard claims.method == request.method.rawValue else { throw .otherRequest }
        guard let scheme = request.scheme, let authority = request.authority,
            let own = DPoPTarget("\(scheme)://\(authority)\(request.path ?? "")"), own == DPoPTarget(claims.target)
        else { throw .otherRequest }
        guard claims.tokenHash == token.0 else { throw .otherToken }
        guard token.1 == nil || token.1 == keyThumbprint else { throw .otherKey }
        let issued = try rules.issued(claims, at: now)
        replay = Nonce(
            value: claims.id, keyID: keyThumbprint, created: issued - rules.clockTolerance,
            expires: issued + rules.maximumAge)
    }

    /// Parses a token, and verifies its signature with the key in its header.
    private static func read(_ text: String) throws(DPoPRefusal) -> (DPoPClaims, thumbprint: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= maximumBytes, parts.count == 3,
            let header = Base64.decodedForURL(parts[0]), let payload = Base64.decodedForURL(parts[1]),
            let signature = Base64.decodedForURL(parts[2]), signature.count == 64,
            let head = try? JSONDecoder().decode(Header.self, from: Data(header)),
            let content = try? JSONDecoder().decode(DPoPClaims.Payload.self, from: Data(payload))
        else { throw .malformed }
        // Refuses a proof that contains a private key or requires an extension (`crit`).
        guard head.typ == "dpop+jwt", head.alg == "ES256", head.jwk.d == nil, head.crit == nil, !content.jti.isEmpty,
            content.iat.isFinite, abs(content.iat) < 1e15
        else { throw .malformed }
        var jwk = PublicKeyJWK(point: [])
        (jwk.crv, jwk.kty, jwk.x, jwk.y) = (head.jwk.crv, head.jwk.kty, head.jwk.x, head.jwk.y)
        guard let key = jwk.key else { throw .malformed }
        let signed = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
        guard VerificationKey.p256(key).isValid(signature, of: signed) else { throw .invalid }
        let claims = DPoPClaims(
            id: content.jti, method: content.htm, target: content.htu,
            issued: UnixTime(seconds: Int64(content.iat.rounded(.down))), tokenHash: content.ath, nonce: content.nonce)
        return (claims, jwk.thumbprint)
    }

    private struct Header: Decodable {
        struct Key: Decodable {
            let crv: String
            let kty: String
            let x: String
            let y: String
            let d: String?
        }

        let typ: String
        let alg: String
        let jwk: Key
        let crit: [String]?
    }
}

/// The reason why a proof is refused. Later versions may add reasons.
public struct DPoPRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    private let text: String

    /// The request has no proof or several proofs, or its proof does not use `ES256` or contains no public key.
    public static let malformed = DPoPRefusal(text: "there is not one well-formed proof")
    /// The signature is not by the key in the proof.
    public static let invalid = DPoPRefusal(text: "the signature is not valid")
    /// The method or target URI in the proof differs from the request.
    public static let otherRequest = DPoPRefusal(text: "it is for another request")
    /// The proof is for another access token, or has no token hash.
    public static let otherToken = DPoPRefusal(text: "it is for another access token")
    /// The access token is bound to another key.
    public static let otherKey = DPoPRefusal(text: "the token is bound to another key")
    /// The creation time of the proof is too old, or in the future.
    public static let outsideWindow = DPoPRefusal(text: "it was not made in time")
    /// The proof has no recent nonce of the server. The response must have the error `use_dpop_nonce` and a new
    /// nonce (RFC 9449 §8).
    public static let needsNonce = DPoPRefusal(text: "it has no fresh nonce of the server")

    /// The error code for the response (RFC 9449 §5, §7.1, §8).
    public var code: String { self == .needsNonce ? "use_dpop_nonce" : "invalid_dpop_proof" }
    /// The refusal in one sentence, without any part of the proof, for logs.
    public var description: String { "the proof is refused: \(text)" }
}
