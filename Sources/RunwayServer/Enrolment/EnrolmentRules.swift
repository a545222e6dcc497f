public import RunwaySignatures

/// The requirements of ``EnrolmentRoutes`` for a device that enrols a key.
///
/// A challenge can be used for 5 minutes, and a request has a body of at most 64 KiB. An account whose enrolments have
/// failed 20 times, by a challenge, a proof or evidence that is not valid or by a malformed message, is refused with
/// 429; it may fail once more each second.
public struct EnrolmentRules: Sendable {
    /// The time for which a challenge can be used.
    static let challengeLifetime = Duration.seconds(300)
    /// The largest body of a request, in bytes; an attestation of App Attest has about 6 KiB.
    static let maximumBodyByteCount = 64 << 10

    /// The scheme and the authorities under which clients reach the server. A statement is for one of them.
    public var origin: PublicOrigin
    /// Issues the challenges, without remembering them. The default has a random key: servers behind one name need the
    /// same key.
    public var challenges = ServerNonces()
    /// The most keys of an account, of all its devices, that may be accepted at the same time. The default is 10. Raise
    /// it if members have more devices.
    public var maximumKeysPerAccount = 10
    /// The time for which a replaced key is still accepted. The default is an hour. Raise it for devices that are
    /// without a network for longer.
    public var overlap = Duration.seconds(3_600)
    /// The time after its enrolment for which a key is accepted. The default, `nil`, sets no limit. Set it to have
    /// devices rotate their keys.
    public var keyLifetime: Duration?
    /// Verifies the evidence of a device's platform. If it is set, an enrolment without evidence is refused. The
    /// default is `nil`.
    public var attestation: (any DeviceAttestation)?
    /// The number of enrolments of an account that may fail; `nil` sets no limit.
    package var failureLimits: FailureLimits? = FailureLimits(burst: 20, perSecond: 1)

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
