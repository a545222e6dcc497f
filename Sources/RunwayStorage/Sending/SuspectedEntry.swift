import Foundation

/// An entry on which the server may fail without sending a response: the server crashes, hangs, or a gateway gives up.
/// Pure.
///
/// A single lost attempt does not show whether the entry is the reason, or whether the server or the network is down.
/// So another entry is sent in between. If the server accepts the other entry and the suspected one is lost again,
/// three times in a row, the server fails on the suspected entry. If the other entry is lost, too, the server is down.
/// See `docs/decisions/0118-entries-without-a-response.md`.
struct SuspectedEntry: Sendable, Equatable {
    /// The conclusion from an attempt that was lost.
    enum Conclusion: Equatable, Sendable {
        /// Nothing follows yet.
        case open
        /// The other entry was lost, too.
        case serverIsDown
        /// The server accepts other entries, but fails on this one.
        case serverFailsOnIt
    }

    /// The number of lost attempts in a row after which an entry is suspected.
    static let lossCount = 20
    /// The time after the first of these attempts from which an entry is suspected.
    static let lossSpan = Duration.seconds(3600)
    /// The number of times that the server has to accept another entry, each followed by a loss of the suspected one.
    static let confirmationCount = 3

    let id: UUID
    /// Whether another entry is sent next.
    private(set) var isProbing = true
    private var wasProbed = false
    private var confirmations = 0
    /// The entries that were lost, too, and may have the same effect on the server. A different one is sent the next
    /// time.
    private var lostProbes: Set<UUID> = []

    init(_ id: UUID) { self.id = id }

    /// The entries that are passed over by the next claim.
    var skipped: Set<UUID> { isProbing ? lostProbes.union([id]) : [] }

    /// Notes that the server has accepted another entry.
    mutating func didProbe() { (isProbing, wasProbed) = (false, true) }

    /// Notes that no other entry waits.
    mutating func hasNoProbe() { (isProbing, wasProbed, lostProbes) = (false, false, []) }

    /// Notes that no response came to an entry, and returns the conclusion.
    ///
    /// - Parameter isDue: Whether the suspected entry was lost often enough for another one to be sent.
    mutating func didLose(_ lost: UUID, isDue: Bool) -> Conclusion {
        if lost != id {
            lostProbes.insert(lost)
            (isProbing, wasProbed, confirmations) = (false, false, 0)
            return .serverIsDown
        }
        if wasProbed { confirmations += 1 }
        wasProbed = false
        if confirmations >= Self.confirmationCount { return .serverFailsOnIt }
        isProbing = isDue
        return .open
    }
}
