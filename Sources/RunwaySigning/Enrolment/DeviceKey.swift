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
///
/// ```swift
/// let keys = DeviceKeys(in: KeychainTokenStore(), maker: .secureEnclave ?? .software)
/// ```
public struct DeviceKeyMaker: Sendable {
    private let make: @Sendable () throws -> any DeviceKey
    private let find: @Sendable ([UInt8]) throws -> any DeviceKey

    /// Creates a maker from two functions.
    ///
    /// - Parameters:
    ///   - make: Generates a key. Throws an error if the device cannot generate one.
    ///   - find: Returns the key with a representation. Throws an error if the key no longer exists.
    public init(
        make: @escaping @Sendable () throws -> any DeviceKey,
        find: @escaping @Sendable (_ representation: [UInt8]) throws -> any DeviceKey
    ) {
        (self.make, self.find) = (make, find)
    }

    /// Generates keys in software, for devices without a Secure Enclave. The representation is the private key itself.
    public static let software = DeviceKeyMaker(
        make: { SoftwareKey(key: P256.Signing.PrivateKey()) },
        find: { SoftwareKey(key: try P256.Signing.PrivateKey(rawRepresentation: $0)) })

    #if canImport(CryptoKit)
        /// Generates keys in the Secure Enclave, which they never leave. Only this device's Secure Enclave can use the
        /// representation. `nil` if this device has no Secure Enclave.
        public static var secureEnclave: DeviceKeyMaker? {
            guard SecureEnclave.isAvailable else { return nil }
            return DeviceKeyMaker(
                make: { EnclaveKey(key: try SecureEnclave.P256.Signing.PrivateKey()) },
                find: { EnclaveKey(key: try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: .init($0))) })
        }
    #endif

    /// Generates a key. Throws an error if the device cannot generate one.
    public func makeKey() throws -> any DeviceKey { try make() }

    /// Returns the key with a representation. Throws an error if the key no longer exists.
    public func key(_ representation: [UInt8]) throws -> any DeviceKey { try find(representation) }
}

struct SoftwareKey: DeviceKey {
    let key: P256.Signing.PrivateKey
    var publicKey: P256.Signing.PublicKey { key.publicKey }
    var representation: [UInt8] { Array(key.rawRepresentation) }

    func signature(of base: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: base).rawRepresentation) }
}

#if canImport(CryptoKit)
    private struct EnclaveKey: DeviceKey {
        let key: SecureEnclave.P256.Signing.PrivateKey
        var publicKey: P256.Signing.PublicKey { key.publicKey }
        var representation: [UInt8] { Array(key.dataRepresentation) }

        func signature(of base: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: base).rawRepresentation) }
    }
#endif
