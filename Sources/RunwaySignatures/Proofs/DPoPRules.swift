/// Requirements for a proof besides a valid signature. A proof may have been created 30 seconds in the future.
public struct DPoPRules: Sendable {
    /// The time after its creation for which a proof is accepted. The default is two minutes. Raise it for slow
    /// networks; claims are then stored for that time.
    public var maximumAge = Duration.seconds(120)
    /// The time by which a proof's creation may lie in the future.
    var clockTolerance = Duration.seconds(30)
    /// Issues the nonces that proofs must have; the age of a proof is then the age of its nonce, whatever the client's
    /// clock says (§8). The default, `nil`, requires none.
    public var nonces: ServerNonces?

    /// Creates rules with the defaults.
    public init() {}

    /// Returns a nonce for `DPoP-Nonce`: for each refusal of a proof without nonce, and for other responses to renew
    /// it. `nil` if no nonces are required.
    public func issueNonce(at now: UnixTime) -> String? { nonces?.issue(at: now, for: Self.purpose) }

    /// Returns the time by the server's clock at which a proof was made.
    func issued(_ claims: DPoPClaims, at now: UnixTime) throws(DPoPRefusal) -> UnixTime {
        guard let nonces else {
            guard claims.issued <= now + clockTolerance, now <= claims.issued + maximumAge else {
                throw DPoPRefusal(.outsideWindow)
            }
            return claims.issued
        }
        guard let time = claims.nonce.flatMap({ nonces.time(of: $0, for: Self.purpose) }), time <= now,
            now <= time + maximumAge
        else { throw DPoPRefusal(.needsNonce) }
        return time + clockTolerance
    }

    private static let purpose = "DPoP"
}
