import Foundation

/// An entry on which the server may fail in such a way that no response of its own comes: it crashes, hangs, or a
/// gateway gives up. Pure.
///
/// A single attempt does not distinguish that from a server or a network that is down. So another entry is sent in
/// between. If the server takes that one and the suspected entry is lost again, three times in a row, the server fails
/// on the entry. If the other one is lost, too, the server is down. See
/// `docs/decisions/0118-entries-without-a-response.md`.
struct SuspectedEntry: Sendable, Equatable {
    /// The conclusion from an attempt that was lost.
    enum Conclusion: Equatable, Sendable {
        /// Nothing yet.
        case open
        /// The other entry was lost, too.
        case serverIsDown
        /// The server takes other entries, and not this one.
        case serverFailsOnIt
    }

    /// An entry is suspected after so many attempts in a row that were lost.
    static let lossCount = 20
    /// An entry is suspected so long after the first of these attempts.
    static let lossSpan = Duration.seconds(3600)
    /// How often the server has to take another entry before each further loss.
    static let confirmationCount = 3

    let id: UUID
    /// Whether another entry is sent next.
    private(set) var isProbing = true
    private var wasProbed = false
    private var confirmations = 0
    /// Entries that were lost, too, and may be of the same sort. Another one is sent the next time.
    private var lostProbes: Set<UUID> = []

    init(_ id: UUID) { self.id = id }

    /// The entries that are passed over by the next claim.
    var skipped: Set<UUID> { isProbing ? lostProbes.union([id]) : [] }

    /// The server has taken another entry.
    mutating func didProbe() { (isProbing, wasProbed) = (false, true) }

    /// No other entry waits.
    mutating func hasNoProbe() { (isProbing, wasProbed, lostProbes) = (false, false, []) }

    /// No response came to an entry.
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
