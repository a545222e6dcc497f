public import Crypto
public import CryptoExtras

/// A key that creates signatures. Its description contains the algorithm, and no part of the key.
public struct SigningKey: Sendable {
    /// The algorithm of the key.
    public let algorithm: SignatureAlgorithm
    let storage: Storage
    /// Computes the HMAC with the secret; `nil` if the algorithm is not HMAC.
    private let keyed: KeyedSHA256?

    enum Storage: Sendable {
        case hmac(SymmetricKey)
        case salted(SymmetricKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
    }

    private init(_ algorithm: SignatureAlgorithm, _ storage: Storage) {
        (self.algorithm, self.storage) = (algorithm, storage)
        keyed = if case .hmac(let secret) = storage { KeyedSHA256(secret) } else { nil }
    }

    /// Returns a key for `hmac-sha256` with a shared secret. Throws a ``SignatureError`` if the secret has fewer than
    /// 16 bytes.
    public static func hmac(_ secret: SymmetricKey) throws(SignatureError) -> SigningKey {
        try secret.checkLength()
        return SigningKey(.hmacSHA256, .hmac(secret))
    }

    /// Returns a key for salted digests with a shared secret. Throws a ``SignatureError`` if the secret has fewer
    /// than 16 bytes.
    ///
    /// - Parameters:
    ///   - secret: The secret, of at least 16 bytes.
    ///   - algorithm: ``SignatureAlgorithm/saltedSHA256`` or ``SignatureAlgorithm/saltedMD5``.
    public static func salted(
        _ secret: SymmetricKey, by algorithm: SignatureAlgorithm = .saltedSHA256
    ) throws(SignatureError) -> SigningKey {
        try secret.checkLength()
        guard [.saltedSHA256, .saltedMD5].contains(algorithm) else { throw SignatureError(.invalidKey, "the secret") }
        return SigningKey(algorithm, .salted(secret))
    }

    /// Returns a key for `ed25519`.
    public static func ed25519(_ key: Curve25519.Signing.PrivateKey) -> SigningKey {
        SigningKey(.ed25519, .ed25519(key))
    }

    /// Returns a key for `ecdsa-p256-sha256`.
    public static func p256(_ key: P256.Signing.PrivateKey) -> SigningKey { SigningKey(.ecdsaP256SHA256, .p256(key)) }

    /// Returns a key for `ecdsa-p384-sha384`.
    public static func p384(_ key: P384.Signing.PrivateKey) -> SigningKey { SigningKey(.ecdsaP384SHA384, .p384(key)) }

    /// Returns a key for `rsa-pss-sha512`.
    public static func rsaPSS(_ key: _RSA.Signing.PrivateKey) -> SigningKey { SigningKey(.rsaPSSSHA512, .rsa(key)) }

    /// Returns a key for `rsa-v1_5-sha256`.
    public static func rsaPKCS1(_ key: _RSA.Signing.PrivateKey) -> SigningKey { SigningKey(.rsaPKCS1SHA256, .rsa(key)) }

    /// The key that verifies signatures of this key. For `hmac-sha256` and a salted digest, it has the same secret.
    public var verificationKey: VerificationKey {
        switch storage {
        case .hmac(let secret): VerificationKey(.hmacSHA256, .hmac(secret))
        case .salted(let secret): VerificationKey(algorithm, .salted(secret))
        case .ed25519(let key): .ed25519(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        case .p384(let key): .p384(key.publicKey)
        case .rsa(let key): algorithm == .rsaPSSSHA512 ? .rsaPSS(key.publicKey) : .rsaPKCS1(key.publicKey)
        }
    }
}

extension SigningKey: MessageSigner {
    /// Signs without suspending. Throws errors of swift-crypto, which occur only if memory or randomness is lacking.
    public func signature(of base: [UInt8]) throws -> [UInt8] {
        switch storage {
        case .hmac(let secret): (keyed ?? KeyedSHA256(secret)).code(of: base)
        case .salted(let secret): SaltedHash.value(of: base, secret: secret, by: algorithm)
        case .ed25519(let key): Array(try key.signature(for: base))
        case .p256(let key): Array(try key.signature(for: base).rawRepresentation)
        case .p384(let key): Array(try key.signature(for: base).rawRepresentation)
        case .rsa(let key):
            algorithm == .rsaPSSSHA512
                ? Array(try key.signature(for: SHA512.hash(data: base), padding: .PSS).rawRepresentation)
                : Array(try key.signature(for: SHA256.hash(data: base), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The algorithm, without the key, for logs.
    public var description: String { "SigningKey(\(algorithm))" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the algorithm, without the key.
    public var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm]) }
}

extension SymmetricKey {
    /// RFC 2104 §3 discourages keys shorter than the digest; keys of fewer than 16 bytes could be guessed.
    func checkLength() throws(SignatureError) {
        guard bitCount >= 128 else { throw SignatureError(.invalidKey, "the secret") }
    }
}
