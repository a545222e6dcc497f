public import Crypto
public import RunwaySignatures

#if canImport(CryptoKit)
    import CryptoKit
    import Foundation
#endif

/// A key of P-256 that was made on this device and signs for it.
public protocol DeviceKey: MessageSigner {
    /// The public key, which the server learns.
    var publicKey: P256.Signing.PublicKey { get }
    /// The bytes by which its ``DeviceKeyMaker`` finds the key again. They are stored as a secret.
    var representation: [UInt8] { get }
}

extension DeviceKey {
    /// The only algorithm of these keys: `ecdsa-p256-sha256`.
    public var algorithm: SignatureAlgorithm { .ecdsaP256SHA256 }
}

/// Makes the keys of a device.
public protocol DeviceKeyMaker: Sendable {
    /// Returns a new key. Throws if the device can't make one.
    func makeKey() throws -> any DeviceKey
    /// Returns the key with a representation. Throws if it does not exist any more.
    func key(_ representation: [UInt8]) throws -> any DeviceKey
}

/// Makes keys in software: the representation is the private key itself. For devices without a Secure Enclave.
public struct SoftwareKeyMaker: DeviceKeyMaker {
    struct Key: DeviceKey {
        let key: P256.Signing.PrivateKey
        var publicKey: P256.Signing.PublicKey { key.publicKey }
        var representation: [UInt8] { Array(key.rawRepresentation) }

        func signature(of base: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: base).rawRepresentation) }
    }

    /// A maker.
    public init() {}

    /// Returns a new key.
    public func makeKey() -> any DeviceKey { Key(key: P256.Signing.PrivateKey()) }

    /// Returns the key with a representation. Throws the error of swift-crypto if it is malformed.
    public func key(_ representation: [UInt8]) throws -> any DeviceKey {
        Key(key: try P256.Signing.PrivateKey(rawRepresentation: representation))
    }
}

#if canImport(CryptoKit)
    /// Makes keys in the Secure Enclave, which they never leave: the representation is useful only to this device's
    /// Secure Enclave.
    public struct SecureEnclaveKeyMaker: DeviceKeyMaker {
        private struct Key: DeviceKey {
            let key: SecureEnclave.P256.Signing.PrivateKey
            var publicKey: P256.Signing.PublicKey { key.publicKey }
            var representation: [UInt8] { Array(key.dataRepresentation) }

            func signature(of base: [UInt8]) throws -> [UInt8] {
                Array(try key.signature(for: base).rawRepresentation)
            }
        }

        /// Whether this device has a Secure Enclave.
        public static var isAvailable: Bool { SecureEnclave.isAvailable }

        /// A maker.
        public init() {}

        /// Returns a new key. Throws CryptoKit's error if the device has no Secure Enclave.
        public func makeKey() throws -> any DeviceKey { Key(key: try SecureEnclave.P256.Signing.PrivateKey()) }

        /// Returns the key with a representation. Throws CryptoKit's error if it is another device's.
        public func key(_ representation: [UInt8]) throws -> any DeviceKey {
            Key(key: try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: .init(representation)))
        }
    }
#endif
