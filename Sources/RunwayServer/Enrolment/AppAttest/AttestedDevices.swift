import RunwaySignatures
import Synchronization

/// A device with an attested key of the App Attest service.
public struct AttestedDevice: Sendable, Hashable {
    /// The identifier of the key: the SHA-256 of the public key in base64url.
    public let id: String
    /// The public key: an uncompressed P-256 point of 65 bytes.
    public let publicKey: [UInt8]
    /// The account for which the key was attested.
    public let account: String
    /// The counter of the last accepted assertion; 0 before the first.
    public var counter: UInt32

    /// Creates a device, for a custom store.
    public init(id: String, publicKey: [UInt8], account: String, counter: UInt32) {
        (self.id, self.publicKey, self.account, self.counter) = (id, publicKey, account, counter)
    }
}

/// Stores attested devices, and the counters of their assertions.
public protocol AttestedDeviceStore: Sendable {
    /// Returns the device with a key identifier, or `nil` if the store has no such device.
    func device(_ id: String) async throws -> AttestedDevice?
    /// Adds a device. Returns `false` and adds nothing if the store is full or has a device with the same identifier.
    func insert(_ device: AttestedDevice) async throws -> Bool
    /// Sets the counter of a device if `counter` is greater than its current value. Returns whether the counter was
    /// set. If several concurrent calls pass the same value, exactly one must succeed.
    func raise(_ id: String, to counter: UInt32) async throws -> Bool
}

/// Stores attested devices in memory, for one server.
package final class InMemoryAttestedDevices: AttestedDeviceStore {
    /// Guards the devices.
    private let devices = Mutex<[ExactText: AttestedDevice]>([:])
    private let maximumDevices: Int

    /// - Parameter maximumDevices: The maximum number of stored devices; further ones are refused. The default is
    ///   100,000.
    package init(maximumDevices: Int = 100_000) { self.maximumDevices = maximumDevices }

    /// Returns the device with a key identifier, or `nil` if the store has no such device.
    package func device(_ id: String) -> AttestedDevice? { devices.withLock { $0[ExactText(id)] } }

    /// Adds a device, unless its identifier is already stored or the store is full.
    package func insert(_ device: AttestedDevice) -> Bool {
        devices.withLock { devices in
            guard devices[ExactText(device.id)] == nil, devices.count < maximumDevices else { return false }
            devices[ExactText(device.id)] = device
            return true
        }
    }

    /// Sets the counter of a device if `counter` is greater than its current value.
    package func raise(_ id: String, to counter: UInt32) -> Bool {
        devices.withLock { devices in
            guard let present = devices[ExactText(id)], counter > present.counter else { return false }
            devices[ExactText(id)]?.counter = counter
            return true
        }
    }
}
