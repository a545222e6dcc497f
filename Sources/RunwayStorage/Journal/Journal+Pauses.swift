import GRDB

/// How long servers asked an offline queue to wait, which a later run must know.
extension Journal {
    /// Followed by the scope.
    static let pausesPrefix = "pause "

    /// Stores that nothing of a scope is to be sent for a while, at most for ``SendPace/longestPause``.
    func setPause(of scope: String, _ wait: Duration, at time: JournalTime) throws(StorageError) {
        let moment = try write { try advance($0, to: time) }
        try set(Self.pausesPrefix + scope, "\(moment + min(wait, SendPace.longestPause).milliseconds)")
    }

    /// The server has accepted something of the scope.
    func removePause(of scope: String) throws(StorageError) { try set(Self.pausesPrefix + scope, nil) }

    /// How long nothing is to be sent yet, by scope; zero for a wait that is over.
    func pauses(at time: JournalTime) throws(StorageError) -> [String: Duration] {
        let settings = try settings(beginning: Self.pausesPrefix)
        if settings.isEmpty { return [:] }
        let moment = try write { try advance($0, to: time) }
        var pauses: [String: Duration] = [:]
        for (scope, value) in settings {
            // What was stored may be damaged.
            guard let end = Int64(value) else { continue }
            let rest = Duration.milliseconds(max(0, end &- moment))
            pauses[scope] = min(rest, SendPace.longestPause)
        }
        return pauses
    }
}
