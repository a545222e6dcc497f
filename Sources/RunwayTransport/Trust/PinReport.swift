/// What the pins of a host said of one connection.
public struct PinReport: Sendable, Hashable {
    /// What the comparison came to.
    public enum Outcome: Sendable, Hashable {
        /// A key of the verified chain is pinned.
        case matched
        /// None is, and the connection was refused.
        case refused
        /// None is, and the connection goes on since the pins only report.
        case wouldHaveRefused
        /// The pins have ended, and were not looked at.
        case expired
    }

    /// The host that was asked for, whatever address was dialled.
    public var host: String
    /// What the comparison came to.
    public var outcome: Outcome
    /// The keys of the verified chain, the server's own first; empty where pins were not looked at.
    public var chain: [PublicKeyPin]
}
