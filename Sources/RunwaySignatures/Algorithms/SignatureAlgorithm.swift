/// A signature algorithm: one of the registry of RFC 9421 §6.2.2, or one for salted digests.
public struct SignatureAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// The registered name of the algorithm.
    public let name: String

    /// HMAC with SHA-256 and a shared secret (RFC 9421 §3.3.3).
    public static let hmacSHA256 = SignatureAlgorithm(known: "hmac-sha256")
    /// Ed25519 (RFC 9421 §3.3.6).
    public static let ed25519 = SignatureAlgorithm(known: "ed25519")
    /// ECDSA with P-256 and SHA-256 (RFC 9421 §3.3.4), which the Secure Enclave supports.
    public static let ecdsaP256SHA256 = SignatureAlgorithm(known: "ecdsa-p256-sha256")
    /// ECDSA with P-384 and SHA-384 (RFC 9421 §3.3.5).
    public static let ecdsaP384SHA384 = SignatureAlgorithm(known: "ecdsa-p384-sha384")
    /// RSASSA-PSS with SHA-512 and a salt of 64 bytes (RFC 9421 §3.3.1).
    public static let rsaPSSSHA512 = SignatureAlgorithm(known: "rsa-pss-sha512")
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 9421 §3.3.2), for peers that support no other algorithm.
    public static let rsaPKCS1SHA256 = SignatureAlgorithm(known: "rsa-v1_5-sha256")

    /// All algorithms of HTTP Message Signatures.
    public static let all: [SignatureAlgorithm] = [
        .hmacSHA256, .ed25519, .ecdsaP256SHA256, .ecdsaP384SHA384, .rsaPSSSHA512, .rsaPKCS1SHA256,
    ]

    /// A salted digest with SHA-256. It is not an algorithm of HTTP Message Signatures.
    public static let saltedSHA256 = SignatureAlgorithm(known: "runway-digest-sha-256")
    /// A salted digest with MD5, for backends that support no other algorithm. MD5 is broken for collisions: prefer
    /// ``saltedSHA256``.
    public static let saltedMD5 = SignatureAlgorithm(known: "runway-digest-md5")

    /// Creates the algorithm with a name. Returns `nil` if the name is neither in ``all`` nor the name of a salted
    /// digest.
    public init?(name: String) {
        let known = Self.all + [.saltedSHA256, .saltedMD5]
        guard let algorithm = known.first(where: { $0.name == name }) else { return nil }
        self = algorithm
    }

    /// Whether signer and verifier share a secret.
    package var isSymmetric: Bool { self == .hmacSHA256 || self == .saltedSHA256 || self == .saltedMD5 }

    private init(known name: String) { self.name = name }

    /// The name of the algorithm.
    public var description: String { name }
}
