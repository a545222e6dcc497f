public import Crypto
public import RunwaySignatures

#if canImport(CryptoKit)
    import CryptoKit
    import Foundation
#endif

/// A P-256 key that was generated on this device and signs for this device.
public protocol DeviceKey: MessageSigner {
    /// The public key, which is sent to the server.
    var publicKey: P256.Signing.PublicKey { get }
    /// The bytes from which its ``DeviceKeyMaker`` recreates the key. They are stored as a secret.
    var representation: [UInt8] { get }
}

extension DeviceKey {
    /// Always `ecdsa-p256-sha256`.
    public var algorithm: SignatureAlgorithm { .ecdsaP256SHA256 }
}

/// Generates the keys of a device.
public protocol DeviceKeyMaker: Sendable {
    /// Generates a key. Throws if the device cannot generate one.
    func makeKey() throws -> any DeviceKey
    /// Returns the key with a representation. Throws if the key no longer exists.
    func key(_ representation: [UInt8]) throws -> any DeviceKey
}

/// Generates keys in software, for devices without a Secure Enclave. The representation is the private key itself.
public struct SoftwareKeyMaker: DeviceKeyMaker {
    struct Key: DeviceKey {
        let key: P256.Signing.PrivateKey
        var publicKey: P256.Signing.PublicKey { key.publicKey }
        var representation: [UInt8] { Array(key.rawRepresentation) }

        func signature(of base: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: base).rawRepresentation) }
    }

    /// Creates a key maker.
    public init() {}

    /// Generates a key in memory.
    public func makeKey() -> any DeviceKey { Key(key: P256.Signing.PrivateKey()) }

    /// Returns the key with a representation. Throws the error of swift-crypto if it is malformed.
    public func key(_ representation: [UInt8]) throws -> any DeviceKey {
        Key(key: try P256.Signing.PrivateKey(rawRepresentation: representation))
    }
}

#if canImport(CryptoKit)
    /// Generates keys in the Secure Enclave, which they never leave. Only this device's Secure Enclave can use the
    /// representation.
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

        /// Creates a key maker.
        public init() {}

        /// Generates a key. Throws CryptoKit's error if the device has no Secure Enclave.
        public func makeKey() throws -> any DeviceKey { Key(key: try SecureEnclave.P256.Signing.PrivateKey()) }

        /// Returns the key with a representation. Throws CryptoKit's error if the key is from another device.
        public func key(_ representation: [UInt8]) throws -> any DeviceKey {
            Key(key: try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: .init(representation)))
        }
    }
#endif
