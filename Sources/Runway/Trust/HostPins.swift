package import struct Foundation.Date

/// The pins of one host at one time. Decides whether the keys of a verified chain satisfy the pins.
///
/// The decision depends only on the pins and the chain, so it is the same for every transport. Each transport obtains
/// the verified chain in its own way.
package struct HostPins: Sendable, Equatable {
    /// The reason that the error states if a chain is refused.
    package static let refusal = "none of the keys of its verified certificates is pinned"

    /// The host as ``HostPattern/normal(_:)`` returns it.
    package let host: String
    /// The pins that are enforced. A certificate chain must contain a key of each set.
    package let enforced: [Set<PublicKeyPin>]
    private let reportOnly: [Set<PublicKeyPin>]

    /// Collects the unexpired sets of pins for a host. Returns `nil` if no set applies to the host.
    package init?(_ host: String, in sets: [PublicKeyPins], at date: Date) {
        let sets = sets.filter { $0.areFor(host) }
        if sets.isEmpty { return nil }
        self.host = HostPattern.normal(host)
        let active = sets.filter { !$0.hasExpired(at: date) }
        enforced = active.filter { $0.isEnforced }.map(\.pins)
        reportOnly = active.filter { !$0.isEnforced }.map(\.pins)
    }

    /// Whether all sets of pins have expired. The host is then verified like a host without pins.
    package var haveExpired: Bool { enforced.isEmpty && reportOnly.isEmpty }

    /// Compares the keys of a verified certificate chain with the pins.
    ///
    /// - Parameter chain: The keys, the server's own first.
    /// - Returns: The report. The connection must be refused if its outcome is ``PinReport/Outcome/refused``.
    package func report(on chain: [PublicKeyPin]) -> PinReport {
        if haveExpired { return PinReport(host: host, outcome: .expired, chain: []) }
        func satisfies(_ sets: [Set<PublicKeyPin>]) -> Bool { sets.allSatisfy { !$0.isDisjoint(with: chain) } }
        let outcome: PinReport.Outcome =
            !satisfies(enforced) ? .refused : satisfies(reportOnly) ? .matched : .wouldHaveRefused
        return PinReport(host: host, outcome: outcome, chain: chain)
    }
}
