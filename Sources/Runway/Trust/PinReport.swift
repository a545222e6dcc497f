/// The result of comparing a host's pins with the certificate chain of one connection.
public struct PinReport: Sendable, Hashable {
    /// The result of the comparison.
    public enum Outcome: Sendable, Hashable {
        /// A key of the verified certificate chain is pinned.
        case matched
        /// No key of the certificate chain is pinned, so the connection was refused.
        case refused
        /// No key of the certificate chain is pinned. The connection is used nevertheless, because the pins are not
        /// ``PublicKeyPins/isEnforced``.
        case wouldHaveRefused
        /// The pins have expired, so they were not compared.
        case expired
    }

    /// The host of the request, which may differ from the dialled address.
    public var host: String
    /// The result of the comparison.
    public var outcome: Outcome
    /// The keys of the verified certificate chain, the server's own first; empty if the pins were not compared.
    public var chain: [PublicKeyPin]

    package init(host: String, outcome: Outcome, chain: [PublicKeyPin]) {
        self.host = host
        self.outcome = outcome
        self.chain = chain
    }
}
