/// A key with its owner, its validity period and further requirements, as a verifier needs it.
public struct KeyRecord: Sendable {
    /// The identifier, which signatures contain in the `keyid` parameter.
    public let id: String
    /// The key. Signatures with the key can use only its algorithm.
    public let key: VerificationKey
    /// The owner of the key: an account, a device or a third party.
    public let owner: String
    /// The name of the device that enrolled the key; `nil` for other keys.
    public var device: String?
    /// The time from which signatures by the key are accepted; `nil` sets no limit.
    public var notBefore: UnixTime?
    /// The time until which signatures by the key are accepted; `nil` sets no limit.
    ///
    /// To rotate a key, add the new key and set this property of the old key to a later time: both keys are valid until
    /// then.
    public var notAfter: UnixTime?
    /// Whether the key is revoked, so that all its signatures are refused.
    public var isRevoked = false
    /// Components that signatures by the key must cover in addition to the components of the verifier's policy.
    public var requiredComponents: [ComponentIdentifier] = []

    /// Creates the record of a key. By default, the key is always valid.
    public init(id: String, key: VerificationKey, owner: String, notBefore: UnixTime? = nil, notAfter: UnixTime? = nil)
    {
        (self.id, self.key, self.owner) = (id, key, owner)
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
    }

    /// Returns whether signatures by the key are accepted at a time: the key is not revoked, and `now` is between
    /// ``notBefore`` and ``notAfter``.
    public func isActive(at now: UnixTime) -> Bool {
        !isRevoked && notBefore.map { $0 <= now } ?? true && notAfter.map { now <= $0 } ?? true
    }

    package func isSame(owner: String, device: String?) -> Bool {
        self.owner.isExactly(owner) && self.device.map(ExactText.init) == device.map(ExactText.init)
    }
}
