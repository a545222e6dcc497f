import Foundation
import GRDB

/// The state of a server that a later run has to know: attempts that were sent but had no response, and pauses that the
/// server asked for. It is stored for each scope (an account of the server).
extension Journal {
    /// The beginning of the name of a setting that counts attempts without a response; the scope (account) of the
    /// attempts follows it.
    static let lossesPrefix = "losses "

    /// Counts an attempt without a response. A later run continues the count.
    ///
    /// - Parameter first: The first entry that was sent. If it differs from the first entry of the previous attempt,
    ///   the count starts at one.
    /// - Returns: Whether the entry is suspected of making the server fail; see ``SuspectedEntry``.
    func noteLoss(of scope: String, _ first: UUID, at time: JournalTime) throws(StorageError) -> Bool {
        let parts = try setting(Self.lossesPrefix + scope)?.split(separator: " ") ?? []
        let moment = try write { try advance($0, to: time) }
        var (count, start) = (0, moment)
        // The stored count may be damaged.
        if parts.count == 3, parts[0] == first.uuidString, let former = Int(parts[1]), let begin = Int64(parts[2]),
            (0...moment).contains(begin)
        {
            (count, start) = (max(0, min(former, SuspectedEntry.lossCount)), begin)
        }
        count += 1
        try set(Self.lossesPrefix + scope, "\(first.uuidString) \(count) \(start)")
        return count >= SuspectedEntry.lossCount && moment - start >= SuspectedEntry.lossSpan.milliseconds
    }

    /// Removes the count of lost attempts, since the server has responded or is down.
    func removeLosses(of scope: String) throws(StorageError) { try set(Self.lossesPrefix + scope, nil) }

    /// The beginning of the name of a setting with a pause; the scope (account) that is paused follows it.
    static let pausesPrefix = "pause "

    /// Stores that nothing of a scope (an account) may be sent for a time, at most ``SendPace/longestPause``.
    func setPause(of scope: String, _ wait: Duration, at time: JournalTime) throws(StorageError) {
        let moment = try write { try advance($0, to: time) }
        try set(Self.pausesPrefix + scope, "\(moment + min(wait, SendPace.longestPause).milliseconds)")
    }

    /// Removes the pause of a scope (an account), since the server has accepted one of its changes.
    func removePause(of scope: String) throws(StorageError) { try set(Self.pausesPrefix + scope, nil) }

    /// Returns the remaining pause of each scope (an account); zero for a pause that is over.
    func pauses(at time: JournalTime) throws(StorageError) -> [String: Duration] {
        let settings = try settings(beginning: Self.pausesPrefix)
        if settings.isEmpty { return [:] }
        let moment = try write { try advance($0, to: time) }
        var pauses: [String: Duration] = [:]
        for (scope, value) in settings {
            // The stored number may be damaged.
            guard let end = Int64(value) else { continue }
            let rest = Duration.milliseconds(max(0, end &- moment))
            pauses[scope] = min(rest, SendPace.longestPause)
        }
        return pauses
    }
}
