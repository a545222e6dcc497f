// swift-crypto exports CryptoKit on Apple's systems: there both are one set of types. Foundation is visible to neither's importers.
@_exported public import Crypto
public import Synchronization

public import struct Foundation.Data
public import protocol Foundation.DataProtocol

// developer.apple.com: SecureEnclave
public enum SecureEnclave {
    // developer.apple.com: SecureEnclave.isAvailable
    public static var isAvailable: Bool { FakeEnclave.isAvailable.withLock(\.self) }
    // developer.apple.com: SecureEnclave.P256
    public enum P256 {
        // developer.apple.com: SecureEnclave.P256.Signing
        public enum Signing {
            // developer.apple.com: SecureEnclave.P256.Signing.PrivateKey
            public struct PrivateKey: Sendable {
                private let key: Crypto.P256.Signing.PrivateKey
                // developer.apple.com: SecureEnclave.P256.Signing.PrivateKey.dataRepresentation. Of no use outside its enclave.
                public let dataRepresentation: Data
                // developer.apple.com: SecureEnclave.P256.Signing.PrivateKey.publicKey
                public var publicKey: Crypto.P256.Signing.PublicKey { key.publicKey }

                // developer.apple.com: init(compactRepresentable:accessControl:authenticationContext:), whose further parameters have
                // defaults
                public init(compactRepresentable: Bool = true) throws {
                    guard SecureEnclave.isAvailable else { throw FakeEnclave.Failure() }
                    key = Crypto.P256.Signing.PrivateKey(compactRepresentable: compactRepresentable)
                    dataRepresentation = FakeEnclave.store(key)
                }
                // developer.apple.com: init(dataRepresentation:authenticationContext:), whose second parameter has a default
                public init(dataRepresentation: Data) throws {
                    guard let key = FakeEnclave.key(dataRepresentation) else { throw FakeEnclave.Failure() }
                    (self.key, self.dataRepresentation) = (key, dataRepresentation)
                }
                // developer.apple.com: SecureEnclave.P256.Signing.PrivateKey.signature(for:)
                public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
                    try key.signature(for: data)
                }
            }
        }
    }
}

/// The Secure Enclave of the fakes' device: it has the keys, and what a program stores of them are their places.
public enum FakeEnclave {
    struct Failure: Error {}

    /// Whether the device has one.
    public static let isAvailable = Mutex(true)
    private static let keys = Mutex<[Data: P256.Signing.PrivateKey]>([:])

    /// Erases the device.
    public static func erase() { keys.withLock { $0 = [:] } }

    static func store(_ key: P256.Signing.PrivateKey) -> Data {
        let place = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
        keys.withLock { $0[place] = key }
        return place
    }

    static func key(_ place: Data) -> P256.Signing.PrivateKey? { keys.withLock { $0[place] } }
}
