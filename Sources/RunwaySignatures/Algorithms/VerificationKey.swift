public import Crypto
public import CryptoExtras

/// A key that verifies signatures. Its description contains the algorithm, and no part of the key.
public struct VerificationKey: Sendable {
    /// The algorithm of the key.
    public let algorithm: SignatureAlgorithm
    let storage: Storage
    /// Computes the HMAC with the secret; `nil` if the algorithm is not HMAC.
    private let keyed: KeyedSHA256?

    enum Storage: Sendable {
        case hmac(SymmetricKey)
        case salted(SymmetricKey)
        case ed25519(Curve25519.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case rsa(_RSA.Signing.PublicKey)
    }

    init(_ algorithm: SignatureAlgorithm, _ storage: Storage) {
        (self.algorithm, self.storage) = (algorithm, storage)
        keyed = if case .hmac(let secret) = storage { KeyedSHA256(secret) } else { nil }
    }

    /// Returns a key for `hmac-sha256` with a shared secret. Throws a ``SignatureError`` if the secret has fewer than
    /// 16 bytes.
    public static func hmac(_ secret: SymmetricKey) throws(SignatureError) -> VerificationKey {
        try secret.checkLength()
        return VerificationKey(.hmacSHA256, .hmac(secret))
    }

    /// Returns a key for salted digests with a shared secret. Throws a ``SignatureError`` if the secret has fewer
    /// than 16 bytes.
    ///
    /// - Parameters:
    ///   - secret: The secret, of at least 16 bytes.
    ///   - algorithm: ``SignatureAlgorithm/saltedSHA256`` or ``SignatureAlgorithm/saltedMD5``.
    public static func salted(
        _ secret: SymmetricKey, by algorithm: SignatureAlgorithm = .saltedSHA256
    ) throws(SignatureError) -> VerificationKey {
        try SigningKey.salted(secret, by: algorithm).verificationKey
    }

    /// Returns a key for `ed25519`.
    public static func ed25519(_ key: Curve25519.Signing.PublicKey) -> VerificationKey {
        VerificationKey(.ed25519, .ed25519(key))
    }

    /// Returns a key for `ecdsa-p256-sha256`.
    public static func p256(_ key: P256.Signing.PublicKey) -> VerificationKey {
        VerificationKey(.ecdsaP256SHA256, .p256(key))
    }

    /// Returns a key for `ecdsa-p384-sha384`.
    public static func p384(_ key: P384.Signing.PublicKey) -> VerificationKey {
        VerificationKey(.ecdsaP384SHA384, .p384(key))
    }

    /// Returns a key for `rsa-pss-sha512`.
    public static func rsaPSS(_ key: _RSA.Signing.PublicKey) -> VerificationKey {
        VerificationKey(.rsaPSSSHA512, .rsa(key))
    }

    /// Returns a key for `rsa-v1_5-sha256`.
    public static func rsaPKCS1(_ key: _RSA.Signing.PublicKey) -> VerificationKey {
        VerificationKey(.rsaPKCS1SHA256, .rsa(key))
    }

    /// Returns whether a signature of a signature base is valid for the key. A MAC is compared in constant time. A
    /// signature of wrong length or format is invalid.
    public func isValid(_ signature: [UInt8], of base: [UInt8]) -> Bool {
        switch storage {
        case .hmac(let secret): (keyed ?? KeyedSHA256(secret)).isValid(signature, of: base)
        case .salted(let secret): SaltedHash.isValid(signature, of: base, secret: secret, by: algorithm)
        case .ed25519(let key): key.isValidSignature(signature, for: base)
        case .p256(let key):
            (try? P256.Signing.ECDSASignature(rawRepresentation: signature)).map { key.isValidSignature($0, for: base) }
                ?? false
        case .p384(let key):
            (try? P384.Signing.ECDSASignature(rawRepresentation: signature)).map { key.isValidSignature($0, for: base) }
                ?? false
        case .rsa(let key):
            algorithm == .rsaPSSSHA512
                ? key.isValidSignature(.init(rawRepresentation: signature), for: SHA512.hash(data: base), padding: .PSS)
                : key.isValidSignature(
                    .init(rawRepresentation: signature), for: SHA256.hash(data: base), padding: .insecurePKCS1v1_5)
        }
    }

    /// The length of a valid signature in bytes.
    var signatureLength: Int {
        switch storage {
        case .hmac: 32
        case .salted: algorithm == .saltedMD5 ? 16 : 32
        case .ed25519, .p256: 64
        case .p384: 96
        case .rsa(let key): key.keySizeInBits / 8
        }
    }

    /// Returns whether this key and another one have the same bytes and algorithm. Secrets of equal length are compared
    /// in constant time.
    package func isSame(as other: VerificationKey) -> Bool {
        guard algorithm == other.algorithm else { return false }
        return switch (storage, other.storage) {
        case (.hmac(let key), .hmac(let other)), (.salted(let key), .salted(let other)): key == other
        case (.ed25519(let key), .ed25519(let other)): key.rawRepresentation == other.rawRepresentation
        case (.p256(let key), .p256(let other)): key.rawRepresentation == other.rawRepresentation
        case (.p384(let key), .p384(let other)): key.rawRepresentation == other.rawRepresentation
        case (.rsa(let key), .rsa(let other)): key.derRepresentation == other.derRepresentation
        default: false
        }
    }

    /// Returns whether this is a salted-digest key with the given secret. Secrets of equal length are compared in
    /// constant time.
    func isSalted(with secret: SymmetricKey) -> Bool {
        guard case .salted(let registered) = storage else { return false }
        return registered == secret
    }
}

extension VerificationKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The algorithm, without the key, for logs.
    public var description: String { "VerificationKey(\(algorithm))" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows only the algorithm, without the key.
    public var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm]) }
}
