public import Crypto
public import RunwaySignatures

/// Which salted digests are accepted in place of a signature, and how their secret is sent.
///
/// A key's record decides over its way: a key of the algorithm `saltedSHA256` makes digests alone, and a key of another
/// algorithm makes none. A digest does not cover the authority, and of the header fields `Content-Type` alone: if the
/// policy requires another component than these and the authority, or the key another than these, digests are refused.
public struct DigestRules: Sendable {
    /// The algorithms that are accepted. The default is SHA-256 alone. MD5 is broken for collisions: add it only for a
    /// caller that has nothing else.
    public var algorithms: Set<SignatureAlgorithm> = [.saltedSHA256]
    /// The server's private keys by their identifiers, to which registered callers seal their own key. Several for the
    /// time of a rotation. The default is empty: requests with a sealed key are refused.
    public var serverKeys: [String: Curve25519.KeyAgreement.PrivateKey] = [:]
    /// Whether a digest must come with a sealed key. The default is `false`.
    public var requiresSealedKey = false

    /// Rules for digests by SHA-256 without a sealed key.
    public init() {}
}
