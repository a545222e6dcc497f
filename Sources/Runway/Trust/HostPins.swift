package import struct Foundation.Date

/// The pins of one host at one time: decides whether the keys of a verified chain satisfy them.
///
/// The decision depends on nothing else, and is the same for every transport. How a transport gets the verified chain
/// is its own concern.
package struct HostPins: Sendable, Equatable {
    /// The reason for which a chain is refused.
    package static let refusal = "none of the keys of its verified certificates is pinned"

    /// The host, as ``HostPattern/normal(_:)`` returns it.
    package let host: String
    /// The pins that are enforced: a chain needs a key of each set.
    package let enforced: [Set<PublicKeyPin>]
    private let reportOnly: [Set<PublicKeyPin>]

    /// Collects the sets for a host that have not expired; `nil` if no set is for the host.
    package init?(_ host: String, in sets: [PublicKeyPins], at date: Date) {
        let sets = sets.filter { $0.areFor(host) }
        if sets.isEmpty { return nil }
        self.host = HostPattern.normal(host)
        let active = sets.filter { !$0.hasExpired(at: date) }
        enforced = active.filter { $0.isEnforced }.map(\.pins)
        reportOnly = active.filter { !$0.isEnforced }.map(\.pins)
    }

    /// Whether all sets have expired. Then the host is verified as one without pins.
    package var haveExpired: Bool { enforced.isEmpty && reportOnly.isEmpty }

    /// Compares the keys of a verified chain.
    ///
    /// - Parameter chain: The keys, the server's own first.
    /// - Returns: The report. The connection is refused if its outcome is ``PinReport/Outcome/refused``.
    package func report(on chain: [PublicKeyPin]) -> PinReport {
        if haveExpired { return PinReport(host: host, outcome: .expired, chain: []) }
        func satisfies(_ sets: [Set<PublicKeyPin>]) -> Bool { sets.allSatisfy { !$0.isDisjoint(with: chain) } }
        let outcome: PinReport.Outcome =
            !satisfies(enforced) ? .refused : satisfies(reportOnly) ? .matched : .wouldHaveRefused
        return PinReport(host: host, outcome: outcome, chain: chain)
    }
}
