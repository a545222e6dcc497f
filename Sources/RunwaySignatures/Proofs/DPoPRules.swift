/// Requirements for a proof besides a valid signature. Its creation time may be at most 30 seconds in the future.
public struct DPoPRules: Sendable {
    /// The maximum age of a proof. The default is two minutes. Raise it for slow networks; used proofs are then stored
    /// for longer.
    public var maximumAge = Duration.seconds(120)
    /// The maximum time by which a proof's creation may be in the future.
    var clockTolerance = Duration.seconds(30)
    /// Issues the nonces that proofs must have. The default, `nil`, requires none. With nonces, the age of a proof is
    /// the age of its nonce, regardless of the client's clock (RFC 9449 §8).
    public var nonces: ServerNonces?

    /// Creates rules with the default values.
    public init() {}

    /// Returns a nonce to send in `DPoP-Nonce`; `nil` if no nonces are required. Send one with each refusal for a
    /// missing nonce, and with other responses to renew it.
    public func issueNonce(at now: UnixTime) -> String? { nonces?.issue(at: now, for: Self.purpose) }

    /// Returns the creation time of a proof. If the proof has a nonce, the time is by the server's clock.
    func issued(_ claims: DPoPClaims, at now: UnixTime) throws(DPoPRefusal) -> UnixTime {
        guard let nonces else {
            guard claims.issued <= now + clockTolerance, now <= claims.issued + maximumAge else {
                throw .outsideWindow
            }
            return claims.issued
        }
        guard let time = claims.nonce.flatMap({ nonces.time(of: $0, for: Self.purpose) }), time <= now,
            now <= time + maximumAge
        else { throw .needsNonce }
        return time + clockTolerance
    }

    private static let purpose = "DPoP"
}
