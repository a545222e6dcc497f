public import RunwaySignatures

/// The requirements of ``EnrolmentRoutes`` for a device that enrols a key.
public struct EnrolmentRules: Sendable {
    /// The scheme and the authorities under which clients reach the server. A statement is for one of them.
    public var origin: PublicOrigin
    /// Issues the challenges, without remembering them. The default has a random key: servers behind one name need the
    /// same key.
    public var challenges = ServerNonces()
    /// The time for which a challenge can be used. The default is 5 minutes.
    public var challengeLifetime = Duration.seconds(300)
    /// The most keys of an account, of all its devices, that may be accepted at the same time. The default is 10.
    public var maximumKeysPerAccount = 10
    /// The time for which a replaced key is still accepted. The default is an hour.
    public var overlap = Duration.seconds(3_600)
    /// The time after its enrolment for which a key is accepted. The default, `nil`, sets no limit.
    public var keyLifetime: Duration?
    /// Verifies the evidence of a device's platform. If it is set, an enrolment without evidence is refused. The
    /// default is `nil`.
    public var attestation: (any DeviceAttestation)?
    /// The number of enrolments of an account that may fail before its requests are refused with 429. An enrolment
    /// fails because of an invalid challenge, proof or evidence, or a malformed message. `nil` sets no limit. The
    /// default is 20 at once, and one more each second.
    public var failureLimits: FailureLimits? = FailureLimits(burst: 20, perSecond: 1)
    /// The largest body of a request, in bytes. The default is 64 KiB; an attestation of App Attest has about 6 KiB.
    public var maximumBodyByteCount = 64 << 10

    /// Creates rules with the defaults.
    public init(origin: PublicOrigin) { self.origin = origin }
}

/// Verifies that an unchanged app on a real device made a statement.
///
/// ``AppAttestation`` implements the protocol for Apple's App Attest.
public protocol DeviceAttestation: Sendable {
    /// Returns only if the evidence certainly covers this very statement; throws an ``EnrolmentRefusal`` otherwise.
    ///
    /// Called after the challenge was claimed and the signatures of the statement were verified.
    func verify(_ evidence: DeviceEvidence, of statement: EnrolmentStatement, at now: UnixTime) async throws
}
