import Foundation
import GRDB

/// Attempts to send that ended without a response of the server, although the request was sent.
extension Journal {
    /// Followed by the scope.
    static let lossesPrefix = "losses "

    /// Counts such an attempt. A later run counts on.
    ///
    /// - Parameter first: The first entry that was sent. The count begins with another one.
    /// - Returns: Whether the entry is suspected; see ``SuspectedEntry``.
    func noteLoss(of scope: String, _ first: UUID, at time: JournalTime) throws(StorageError) -> Bool {
        let parts = try setting(Self.lossesPrefix + scope)?.split(separator: " ") ?? []
        let moment = try write { try advance($0, to: time) }
        var (count, start) = (0, moment)
        // What was stored may be damaged.
        if parts.count == 3, parts[0] == first.uuidString, let former = Int(parts[1]), let begin = Int64(parts[2]),
            (0...moment).contains(begin)
        {
            (count, start) = (max(0, min(former, SuspectedEntry.lossCount)), begin)
        }
        count += 1
        try set(Self.lossesPrefix + scope, "\(first.uuidString) \(count) \(start)")
        return count >= SuspectedEntry.lossCount && moment - start >= SuspectedEntry.lossSpan.milliseconds
    }

    /// Forgets the attempts: the server has responded, or it is down.
    func removeLosses(of scope: String) throws(StorageError) { try set(Self.lossesPrefix + scope, nil) }
}
