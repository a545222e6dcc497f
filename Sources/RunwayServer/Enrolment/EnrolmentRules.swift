public import RunwaySignatures

/// What ``EnrolmentRoutes`` require of a device that enrols a key.
public struct EnrolmentRules: Sendable {
    /// Under which scheme and authorities clients reach the server. A statement is for one of them.
    public var origin: PublicOrigin
    /// Issues the challenges, without remembering them. The default has a random key: servers behind one name need the
    /// same one.
    public var challenges = ServerNonces()
    /// For how long a challenge can be used. The default is 5 minutes.
    public var challengeLifetime = Duration.seconds(300)
    /// How many keys of an account may be accepted at the same time, of all its devices. The default is 10.
    public var maximumKeysPerAccount = 10
    /// For how long a key that was replaced is still accepted. The default is an hour.
    public var overlap = Duration.seconds(3_600)
    /// For how long a key is accepted after it was enrolled. The default, `nil`, sets no limit.
    public var keyLifetime: Duration?
    /// Verifies the evidence of a device's platform. If it is set, an enrolment without evidence is refused. The
    /// default is `nil`.
    public var attestation: (any DeviceAttestation)?
    /// How many enrolments of an account may fail, by a challenge, a proof or evidence that is not valid or by a
    /// malformed message, before its requests are refused with 429. `nil` sets no limit. The default is 20 at once, and
    /// one more each second.
    public var failureLimits: FailureLimits? = FailureLimits(burst: 20, perSecond: 1)
    /// The largest body of a request, in bytes. The default is 64 KiB; an attestation of App Attest has about 6.
    public var maximumBodyByteCount = 64 << 10

    /// Rules with the defaults.
    public init(origin: PublicOrigin) { self.origin = origin }
}

/// Verifies that a statement was made by an unchanged app on a real device.
///
/// ``AppAttestation`` does for Apple's App Attest.
public protocol DeviceAttestation: Sendable {
    /// Returns for certain that the evidence is one of this very statement; throws an ``EnrolmentRefusal`` otherwise.
    ///
    /// It is called after the challenge was claimed, and after the signatures of the statement were verified.
    func verify(_ evidence: DeviceEvidence, of statement: EnrolmentStatement, at now: UnixTime) async throws
}
