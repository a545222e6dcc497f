public import Crypto
public import RunwaySignatures

/// The salted digests that are accepted instead of a signature, and the way in which their secret is sent.
///
/// The key's record decides: a key of the algorithm `saltedSHA256` makes only digests, and a key of another algorithm
/// makes none. A digest does not cover the authority, and covers no header field except `Content-Type`. If the policy
/// requires any other component except the authority, or the key requires any, digests are refused.
public struct DigestRules: Sendable {
    /// The algorithms that are accepted. The default is only SHA-256. MD5 is broken for collisions: add it only for a
    /// caller that supports nothing else.
    public var algorithms: Set<SignatureAlgorithm> = [.saltedSHA256]
    /// The server's private keys by their identifiers. Registered callers seal their own key to one of them. There may
    /// be several during a rotation. The default is empty: requests with a sealed key are refused.
    public var serverKeys: [String: Curve25519.KeyAgreement.PrivateKey] = [:]
    /// Whether a digest must come with a sealed key. The default is `false`.
    public var requiresSealedKey = false

    /// Creates rules for digests by SHA-256 without a sealed key.
    public init() {}
}
