public import RunwaySignatures

/// The requirements of ``EnrolmentRoutes`` for enrolments.
///
/// A challenge is valid for 5 minutes, and the body of a request has at most 64 KiB. After 20 failed enrolments, an
/// account gets 429 and may fail once more per second. An enrolment fails by an invalid challenge, proof or evidence,
/// or by a malformed message.
public struct EnrolmentRules: Sendable {
    static let challengeLifetime = Duration.seconds(300)
    /// The maximum body size in bytes. An App Attest attestation has about 6 KiB.
    static let maximumBodyByteCount = 64 << 10

    /// The scheme and the authorities by which clients reach the server. A statement must name one of these origins.
    public var origin: PublicOrigin
    /// Issues challenges without storing them. The default has a random key: servers behind one name need a shared key.
    public var challenges = ServerNonces()
    /// The maximum number of valid keys per account, across its devices. The default is 10. Raise it if members have
    /// more devices.
    public var maximumKeysPerAccount = 10
    /// The time for which a replaced key stays valid. The default is one hour. Raise it for devices that are offline
    /// for longer.
    public var overlap = Duration.seconds(3_600)
    /// The time after its enrolment for which a key is valid. The default, `nil`, sets no limit. Set it so that devices
    /// rotate their keys.
    public var keyLifetime: Duration?
    /// Verifies the evidence of a device's platform. If set, enrolments without evidence are refused. The default is
    /// `nil`.
    public var attestation: (any DeviceAttestation)?
    /// The limit on failed enrolments per account; `nil` sets no limit.
    package var failureLimits: FailureLimits? = FailureLimits(burst: 20, perSecond: 1)

    /// Creates rules with the default values.
    public init(origin: PublicOrigin) { self.origin = origin }
}

/// Verifies that an unchanged app on a genuine device made a statement.
///
/// ``AppAttestation`` implements the protocol for Apple's App Attest.
public protocol DeviceAttestation: Sendable {
    /// Returns only if the evidence is valid and covers exactly this statement; otherwise throws an
    /// ``EnrolmentRefusal``.
    ///
    /// Called after the challenge was claimed and the signatures of the statement were verified.
    func verify(_ evidence: DeviceEvidence, of statement: EnrolmentStatement, at now: UnixTime) async throws
}
