import Crypto
import Foundation
import Runway
import RunwaySignatures

/// The keys that a device stores for one owner.
struct StoredDeviceKeys: Sendable, Codable {
    /// A key and its identifier.
    struct Key: Sendable, Codable {
        let id: String
        /// The representation by which the key's maker finds the key, in Base64.
        let representation: String
    }

    /// The identifier of the device, created once.
    var device = UUID().uuidString.lowercased()
    /// The key that signs; `nil` before the first enrolment.
    var current: Key?
    /// A key whose enrolment has begun. If a response was lost, the server may know the key already.
    var pending: Key?
}

extension StoredDeviceKeys.Key {
    init(_ key: any DeviceKey) {
        id = PublicKeyJWK(point: key.publicKey.x963Representation).thumbprint
        representation = Base64.encoded(key.representation)
    }

    func key(by maker: any DeviceKeyMaker) throws -> any DeviceKey {
        guard let bytes = Base64.decoded(representation) else { throw UnreadableDeviceKey() }
        return try maker.key(bytes)
    }
}

extension StoredDeviceKeys.Key: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text for logs: the representation can be the private key itself.
    var description: String { "StoredDeviceKeys.Key(\(id))" }
    /// The same as `description`.
    var debugDescription: String { description }
    /// A mirror without the representation.
    var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// A stored key does not have the form in which keys are stored.
struct UnreadableDeviceKey: Error {}

extension KeyOwner {
    /// Returns the key under which a token store has the owner's keys; `nil` if there is no account.
    func tokenKey(named name: String) -> TokenKey? {
        account.map { TokenKey(network: name, service: service, environment: environment.name, account: $0) }
    }
}
