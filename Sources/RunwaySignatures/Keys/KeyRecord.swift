/// A key as a verifier needs it: with its owner, the time in which it is valid, and further requirements.
public struct KeyRecord: Sendable {
    /// The identifier, which signatures name in the parameter `keyid`.
    public let id: String
    /// The key. Its algorithm is the only one that its signatures may have.
    public let key: VerificationKey
    /// The party that the key identifies: an account, a device or a third party.
    public let owner: String
    /// The name of the device that has the key, from its enrolment. `nil` for other keys.
    public var device: String?
    /// The first moment at which signatures by the key are accepted. `nil` sets no limit.
    public var notBefore: UnixTime?
    /// The last moment at which signatures by the key are accepted. `nil` sets no limit.
    ///
    /// To rotate a key, add the new key, and set this moment of the old key to some time later: both are accepted until
    /// then.
    public var notAfter: UnixTime?
    /// Whether signatures by the key are refused from now on.
    public var isRevoked = false
    /// Components that signatures by the key must cover in addition to those of the verifier's policy.
    public var requiredComponents: [ComponentIdentifier] = []

    /// Creates the record of a key, by default without limits in time.
    public init(id: String, key: VerificationKey, owner: String, notBefore: UnixTime? = nil, notAfter: UnixTime? = nil)
    {
        (self.id, self.key, self.owner) = (id, key, owner)
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
    }

    /// Returns whether signatures by the key are accepted at a time: the key is not revoked, and `now` is from
    /// ``notBefore`` to ``notAfter``.
    public func isActive(at now: UnixTime) -> Bool {
        !isRevoked && notBefore.map { $0 <= now } ?? true && notAfter.map { now <= $0 } ?? true
    }

    /// Returns whether the key belongs to this owner and device.
    package func isSame(owner: String, device: String?) -> Bool {
        self.owner.isExactly(owner) && self.device.map(ExactText.init) == device.map(ExactText.init)
    }
}
