import Crypto
import Foundation
import Runway
import RunwaySignatures

/// What a device stores of its keys for one owner.
struct StoredDeviceKeys: Sendable, Codable {
    /// A key and its identifier.
    struct Key: Sendable, Codable {
        let id: String
        /// What the maker finds the key by, as Base64.
        let representation: String
    }

    /// The identifier of the device, which is made once.
    var device = UUID().uuidString.lowercased()
    /// The key that signs; `nil` before the first enrolment.
    var current: Key?
    /// A key whose enrolment has begun. The server may know it already, where a response was lost.
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

/// A stored key is not one of the form in which keys are stored.
struct UnreadableDeviceKey: Error {}

extension KeyOwner {
    /// The key under which the owner's keys are in a token store; `nil` if there is no account.
    func tokenKey(named name: String) -> TokenKey? {
        account.map { TokenKey(network: name, service: service, environment: environment.name, account: $0) }
    }
}
