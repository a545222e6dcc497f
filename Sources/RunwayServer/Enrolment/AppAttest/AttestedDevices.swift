import RunwaySignatures
import Synchronization

/// A device whose key of the App Attest service was attested.
public struct AttestedDevice: Sendable, Hashable {
    /// The identifier of the key: the SHA-256 of the public key, as Base64 for URLs.
    public let id: String
    /// The public key: 65 bytes, an uncompressed point of P-256.
    public let publicKey: [UInt8]
    /// The account for which it was attested.
    public let account: String
    /// The counter of the last assertion that was accepted; 0 before the first.
    public var counter: UInt32

    /// Lets a store of your own return a device that was attested.
    public init(id: String, publicKey: [UInt8], account: String, counter: UInt32) {
        (self.id, self.publicKey, self.account, self.counter) = (id, publicKey, account, counter)
    }
}

/// Remembers which devices were attested, and the counters of their assertions.
public protocol AttestedDeviceStore: Sendable {
    /// Returns the device with an identifier; `nil` if there is none.
    func device(_ id: String) async throws -> AttestedDevice?
    /// Adds a device. Returns `false`, and adds none, if its identifier is present or the store is full.
    func insert(_ device: AttestedDevice) async throws -> Bool
    /// Sets the counter of a device if the new value is greater than the present one, and returns whether it is. If
    /// several calls pass the same value at the same time, exactly one of them succeeds.
    func raise(_ id: String, to counter: UInt32) async throws -> Bool
}

/// Remembers attested devices in memory, for one server.
public final class InMemoryAttestedDevices: AttestedDeviceStore {
    /// Guards the devices.
    private let devices = Mutex<[ExactText: AttestedDevice]>([:])
    private let maximumDevices: Int

    /// - Parameter maximumDevices: The most devices that are remembered; further ones are refused. The default is
    ///   100,000.
    public init(maximumDevices: Int = 100_000) { self.maximumDevices = maximumDevices }

    /// Returns the device with an identifier.
    public func device(_ id: String) -> AttestedDevice? { devices.withLock { $0[ExactText(id)] } }

    /// Adds a device.
    public func insert(_ device: AttestedDevice) -> Bool {
        devices.withLock { devices in
            guard devices[ExactText(device.id)] == nil, devices.count < maximumDevices else { return false }
            devices[ExactText(device.id)] = device
            return true
        }
    }

    /// Sets the counter of a device, if it is greater than the present one.
    public func raise(_ id: String, to counter: UInt32) -> Bool {
        devices.withLock { devices in
            guard let present = devices[ExactText(id)], counter > present.counter else { return false }
            devices[ExactText(id)]?.counter = counter
            return true
        }
    }
}
