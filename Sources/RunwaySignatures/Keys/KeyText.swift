package import Crypto
import CryptoExtras
import Foundation

extension VerificationKey {
    /// Reads a public key or shared secret: PEM for ECDSA and RSA, PEM or base64 of the raw bytes for Ed25519, and
    /// base64 of the secret for HMAC and salted digests.
    ///
    /// Throws a ``SignatureError`` or the error of swift-crypto if the text is not a key of the algorithm.
    public init(_ algorithm: SignatureAlgorithm, text: String) throws {
        switch algorithm {
        case .ecdsaP256SHA256: self = .p256(try P256.Signing.PublicKey(pemRepresentation: text))
        case .ecdsaP384SHA384: self = .p384(try P384.Signing.PublicKey(pemRepresentation: text))
        case .rsaPSSSHA512:
            if let structure = try PSSKeyStructure(pem: text) {
                self = .rsaPSS(try _RSA.Signing.PublicKey(derRepresentation: structure.key))
            } else {
                self = .rsaPSS(try _RSA.Signing.PublicKey(pemRepresentation: text))
            }
        case .rsaPKCS1SHA256:
            try text.checkUseForPKCS1()
            self = .rsaPKCS1(try _RSA.Signing.PublicKey(pemRepresentation: text))
        case .ed25519 where text.isPEM: self = .ed25519(try Curve25519.Signing.PublicKey(pemRepresentation: text))
        case .ed25519: self = .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: text.rawKey()))
        case .hmacSHA256: self = try .hmac(SymmetricKey(data: text.rawKey()))
        default: self = try .salted(SymmetricKey(data: text.rawKey()), by: algorithm)
        }
    }

    /// The key in the format that ``init(_:text:)`` reads. A shared secret is included.
    package var text: String {
        switch storage {
        case .hmac(let secret), .salted(let secret): secret.withUnsafeBytes { Base64.encoded($0) }
        case .ed25519(let key): Base64.encoded(key.rawRepresentation)
        case .p256(let key): key.pemRepresentation
        case .p384(let key): key.pemRepresentation
        case .rsa(let key): key.pemRepresentation
        }
    }
}

extension SigningKey {
    /// Reads a private key or shared secret: PEM for ECDSA and RSA, PEM or base64 of the raw bytes for Ed25519, and
    /// base64 of the secret for HMAC and salted digests.
    ///
    /// Throws a ``SignatureError`` or the error of swift-crypto if the text is not a key of the algorithm.
    public init(_ algorithm: SignatureAlgorithm, text: String) throws {
        switch algorithm {
        case .ecdsaP256SHA256: self = .p256(try P256.Signing.PrivateKey(pemRepresentation: text))
        case .ecdsaP384SHA384: self = .p384(try P384.Signing.PrivateKey(pemRepresentation: text))
        case .rsaPSSSHA512:
            if let structure = try PSSKeyStructure(pem: text) {
                self = .rsaPSS(try _RSA.Signing.PrivateKey(derRepresentation: structure.key))
            } else {
                self = .rsaPSS(try _RSA.Signing.PrivateKey(pemRepresentation: text))
            }
        case .rsaPKCS1SHA256:
            try text.checkUseForPKCS1()
            self = .rsaPKCS1(try _RSA.Signing.PrivateKey(pemRepresentation: text))
        case .ed25519 where text.isPEM: self = .ed25519(try Curve25519.Signing.PrivateKey(pemRepresentation: text))
        case .ed25519: self = .ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: text.rawKey()))
        case .hmacSHA256: self = try .hmac(SymmetricKey(data: text.rawKey()))
        default: self = try .salted(SymmetricKey(data: text.rawKey()), by: algorithm)
        }
    }

    /// Generates a key. Throws the errors of swift-crypto.
    package init(making algorithm: SignatureAlgorithm) throws {
        switch algorithm {
        case .ecdsaP256SHA256: self = .p256(P256.Signing.PrivateKey())
        case .ecdsaP384SHA384: self = .p384(P384.Signing.PrivateKey())
        case .rsaPSSSHA512: self = .rsaPSS(try _RSA.Signing.PrivateKey(keySize: .bits3072))
        case .rsaPKCS1SHA256: self = .rsaPKCS1(try _RSA.Signing.PrivateKey(keySize: .bits3072))
        case .ed25519: self = .ed25519(Curve25519.Signing.PrivateKey())
        case .hmacSHA256: self = try .hmac(SymmetricKey(size: .bits256))
        default: self = try .salted(SymmetricKey(size: .bits256), by: algorithm)
        }
    }

    /// The key in the format that ``init(_:text:)`` reads. It is secret.
    package var text: String {
        switch storage {
        case .hmac(let secret), .salted(let secret): secret.withUnsafeBytes { Base64.encoded($0) }
        case .ed25519(let key): Base64.encoded(key.rawRepresentation)
        case .p256(let key): key.pemRepresentation
        case .p384(let key): key.pemRepresentation
        case .rsa(let key): key.pemRepresentation
        }
    }
}

extension SealedKey {
    /// Reads the public key of a server: PEM, or base64 of the raw bytes.
    package static func publicKey(text: String) throws -> Curve25519.KeyAgreement.PublicKey {
        text.isPEM
            ? try Curve25519.KeyAgreement.PublicKey(pemRepresentation: text)
            : try Curve25519.KeyAgreement.PublicKey(rawRepresentation: text.rawKey())
    }

    /// Reads the private key of a server: PEM, or base64 of the raw bytes.
    package static func privateKey(text: String) throws -> Curve25519.KeyAgreement.PrivateKey {
        text.isPEM
            ? try Curve25519.KeyAgreement.PrivateKey(pemRepresentation: text)
            : try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: text.rawKey())
    }
}

extension SealedKey.Caller {
    /// - Parameter text: The secret in base64.
    package init(id: String, text: String) throws(SignatureError) {
        self.init(id: id, secret: SymmetricKey(data: try text.rawKey()))
    }
}

extension String {
    fileprivate var isPEM: Bool { hasPrefix("-----BEGIN ") }

    /// Throws a ``SignatureError`` if the text is a key for RSASSA-PSS: such a key must not make other signatures (RFC
    /// 4055 §1.2).
    fileprivate func checkUseForPKCS1() throws(SignatureError) {
        if try PSSKeyStructure(pem: self) != nil { throw SignatureError(.invalidKey, "a key for RSASSA-PSS") }
    }

    /// Returns the bytes of a base64 text.
    fileprivate func rawKey() throws(SignatureError) -> [UInt8] {
        guard let bytes = Base64.decoded(self) else { throw SignatureError(.invalidKey, "the text") }
        return bytes
    }
}
