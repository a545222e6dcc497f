import Crypto

/// The share of all devices for which something is meant, and the text that decides for which of them.
///
/// ```json
/// {"salt":"shop/release/1/manifest.json#7","share":3000}
/// ```
///
/// A device has one bucket for each salt. Raising the share only adds devices; equal salts choose the same devices.
package struct Rollout: Sendable, Hashable {
    /// The number of the 10,000 buckets that are included, from 0 to ``bucketCount``.
    package let share: Int64
    /// Any text. Salt and device determine the bucket of the device, so that another salt chooses other devices.
    package let salt: String

    /// The number of buckets into which devices are divided: 1 % is 100 of them.
    package static let bucketCount: Int64 = 10_000
    /// The maximum length of a salt in bytes.
    static let maximumSaltLength = 1_024

    /// - Throws: ``MalformedMetadata`` if the share is not from 0 to 10,000, or if the salt is too long.
    package init(share: Int64, salt: String) throws(MalformedMetadata) {
        guard (0...Self.bucketCount).contains(share) else {
            throw MalformedMetadata("the share of a roll-out is not from 0 to \(Self.bucketCount)")
        }
        guard salt.utf8.count <= Self.maximumSaltLength else {
            throw MalformedMetadata("the salt of a roll-out is too long")
        }
        (self.share, self.salt) = (share, salt)
    }

    /// Reads the members `share` and `salt`.
    package init(_ object: CanonicalObject) throws(MalformedMetadata) {
        try self.init(share: try object.integer("share", atLeast: 0), salt: try object.string("salt"))
    }

    /// The member as a document lists it.
    package var object: CanonicalObject { ["salt": .string(salt), "share": .integer(share)] }

    /// Returns whether a device is included.
    ///
    /// - Parameter device: The random identifier that the device has made once, and never changes.
    package func includes(_ device: String) -> Bool { bucket(of: device) < share }

    /// Returns the bucket of a device: the first 8 bytes of the SHA-256 digest of salt, NUL and identifier as a
    /// big-endian number, modulo 10,000.
    func bucket(of device: String) -> Int64 {
        let digest = SHA256.hash(data: Array(salt.utf8) + [0] + Array(device.utf8))
        let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(number % UInt64(Self.bucketCount))
    }
}
