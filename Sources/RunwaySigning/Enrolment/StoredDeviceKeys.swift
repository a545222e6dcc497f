import Crypto
import Foundation
import Runway
import RunwaySignatures

struct StoredDeviceKeys: Sendable, Codable {
    struct Key: Sendable, Codable {
        let id: String
        /// The base64 representation from which the key's maker recreates the key.
        let representation: String
    }

    /// The identifier of the device, created once.
    var device = UUID().uuidString.lowercased()
    /// The key that signs; `nil` before the first enrolment.
    var current: Key?
    /// A key of an unfinished enrolment. If the response was lost, the server may already know the key.
    var pending: Key?
}

extension StoredDeviceKeys.Key {
    init(_ key: any DeviceKey) {
        id = PublicKeyJWK(point: key.publicKey.x963Representation).thumbprint
        representation = Base64.encoded(key.representation)
    }

    func key(by maker: DeviceKeyMaker) throws -> any DeviceKey {
        guard let bytes = Base64.decoded(representation) else { throw UnreadableDeviceKey() }
        return try maker.key(bytes)
    }
}

extension StoredDeviceKeys.Key: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text with only the identifier, since the representation can be the private key itself.
    var description: String { "StoredDeviceKeys.Key(\(id))" }
    /// The same as `description`.
    var debugDescription: String { description }
    /// A mirror without the representation.
    var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// A stored key is malformed.
struct UnreadableDeviceKey: Error {}

extension KeyOwner {
    /// Returns the key under which a token store stores the owner's keys; `nil` if no account is signed in.
    func tokenKey(named name: String) -> TokenKey? {
        account.map { TokenKey(network: name, service: service, environment: environment.name, account: $0) }
    }
}
