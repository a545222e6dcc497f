/// What a verifier knows of a key.
public struct KeyRecord: Sendable {
    /// The identifier, as the parameter `keyid` names it.
    public let id: String
    /// The key, and with it the only algorithm that its signatures may have.
    public let key: VerificationKey
    /// Whom the key identifies: an account, a device or a third party.
    public let owner: String
    /// The device that has the key, as it named itself when it was enrolled. `nil` for other keys.
    public var device: String?
    /// The first moment at which signatures of the key are accepted. `nil` sets no limit.
    public var notBefore: UnixTime?
    /// The last moment at which signatures of the key are accepted. `nil` sets no limit.
    ///
    /// To rotate a key, add the new one and let this moment of the old one be some time later: both are accepted until
    /// then.
    public var notAfter: UnixTime?
    /// Whether no signature of the key is accepted any more.
    public var isRevoked = false
    /// Components that signatures of this key must cover besides those of the verifier's policy.
    public var requiredComponents: [ComponentIdentifier] = []

    /// A record of a key without limits in time.
    public init(id: String, key: VerificationKey, owner: String, notBefore: UnixTime? = nil, notAfter: UnixTime? = nil)
    {
        (self.id, self.key, self.owner) = (id, key, owner)
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
    }

    /// Whether signatures of the key are accepted at a time: it is not revoked, and the time is from ``notBefore`` to
    /// ``notAfter``.
    public func isActive(at now: UnixTime) -> Bool {
        !isRevoked && notBefore.map { $0 <= now } ?? true && notAfter.map { now <= $0 } ?? true
    }

    /// Whether the key belongs to a device of an owner.
    package func isSame(owner: String, device: String?) -> Bool {
        self.owner.isExactly(owner) && self.device.map(ExactText.init) == device.map(ExactText.init)
    }
}
