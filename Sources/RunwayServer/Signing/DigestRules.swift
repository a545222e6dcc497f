public import Crypto
public import RunwaySignatures

/// The rules for requests that have a salted digest instead of a signature, and for sending the secret of the digest.
///
/// The record of a key decides: a key with the algorithm `saltedSHA256` can only make digests, and other keys cannot
/// make digests. A digest covers neither the authority nor any header field except `Content-Type`. Digests are
/// therefore refused if the policy requires another component except the authority, or if the key requires another
/// component.
public struct DigestRules: Sendable {
    /// The accepted algorithms. The default is only SHA-256. MD5 is broken for collisions: add it only for a caller
    /// that supports nothing else.
    public var algorithms: Set<SignatureAlgorithm> = [.saltedSHA256]
    /// The server's private keys by identifier. Registered callers encrypt their own key for one of these keys (sealed
    /// key). During a rotation, there may be several. The default is empty: requests with a sealed key are refused.
    public var serverKeys: [String: Curve25519.KeyAgreement.PrivateKey] = [:]
    /// Whether a digest must come with a sealed key. The default is `false`.
    public var requiresSealedKey = false

    /// Creates rules that accept SHA-256 digests without a sealed key.
    public init() {}
}
