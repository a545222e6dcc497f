import Foundation

/// An entry to which the server may never respond: the server crashes or hangs on it, or a gateway times out. A pure
/// state machine.
///
/// A single lost attempt does not show whether the entry, the server or the network is the cause. So another entry is
/// sent next. If the other entry is lost, too, the server is down. If the other entry is accepted and then the
/// suspected entry is lost again, three times in a row, the server fails on the suspected entry. See
/// `docs/decisions/0118-entries-without-a-response.md`.
struct SuspectedEntry: Sendable, Equatable {
    enum Conclusion: Equatable, Sendable {
        case open
        case serverIsDown
        /// The server accepts other entries, but fails on the suspected one.
        case serverFailsOnIt
    }

    /// The number of lost attempts in a row after which an entry is suspected of making the server fail.
    static let lossCount = 20
    /// The minimum time from the first lost attempt until an entry is suspected of making the server fail.
    static let lossSpan = Duration.seconds(3600)
    /// The number of times that the server has to accept another entry and then fail on the suspected one.
    static let confirmationCount = 3

    let id: UUID
    /// Whether the next attempt sends another entry.
    private(set) var isProbing = true
    private var wasProbed = false
    private var confirmations = 0
    /// The other entries that were lost. They may affect the server in the same way, so a different one is sent next.
    private var lostProbes: Set<UUID> = []

    init(_ id: UUID) { self.id = id }

    /// The entries that the next claim skips.
    var skipped: Set<UUID> { isProbing ? lostProbes.union([id]) : [] }

    /// Records that the server accepted another entry.
    mutating func didProbe() { (isProbing, wasProbed) = (false, true) }

    mutating func hasNoProbe() { (isProbing, wasProbed, lostProbes) = (false, false, []) }

    /// Records a lost attempt, and returns the conclusion.
    ///
    /// - Parameter isDue: Whether the suspected entry was lost often enough to send another entry next.
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
