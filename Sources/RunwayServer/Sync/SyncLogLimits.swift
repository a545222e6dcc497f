import RunwaySyncCore

/// Limits for the log of a space. The newest removed entry is the horizon; a device whose cursor is before it reads all
/// rows again.
public struct SyncLogLimits: Sendable, Hashable {
    /// The age at which entries are removed. The default is 30 days.
    public var maximumAge: Duration
    /// The size of the log in bytes, without its oldest entry, beyond which the oldest entries are removed. The default
    /// is 256 MiB. The newest entry is never removed for its size.
    public var maximumByteCount: Int64

    /// Creates limits. The properties state the defaults.
    public init(maximumAge: Duration = .seconds(30 * 86_400), maximumByteCount: Int64 = 256 << 20) {
        (self.maximumAge, self.maximumByteCount) = (maximumAge, max(maximumByteCount, 0))
    }

    /// The number of entries after which a server removes old ones.
    static let interval: Int64 = 256
    /// The largest number of entries that one transaction removes.
    static let removalCount: Int64 = 1_024
}

extension SyncTables {
    /// Removes old entries of the log, at most ``SyncLogLimits/removalCount``.
    ///
    /// - Returns: Whether entries were removed.
    mutating func trim(_ limits: SyncLogLimits) throws -> Bool {
        var history = try history
        guard let newest = try mark(of: history.head.number) else { return false }
        let age = limits.maximumAge.components.seconds
        let time = try now - (age > Int64.max / 2_000 ? Int64.max / 2 : age * 1_000)
        // The entries to remove are the first ones of the log, so that their number is found by halving.
        var (low, high) = (
            history.horizon.number, min(history.head.number, history.horizon.number + SyncLogLimits.removalCount)
        )
        while low < high {
            let middle = high - (high - low) / 2
            guard let mark = try mark(of: middle) else { throw SpaceDamage() }
            let isOld = mark.milliseconds < time || newest.byteCount - mark.byteCount > limits.maximumByteCount
            if isOld { low = middle } else { high = middle - 1 }
        }
        return try moveHorizon(&history, to: low)
    }

    /// Removes the entries of the log up to a number.
    ///
    /// - Returns: Whether entries were removed.
    mutating func moveHorizon(_ history: inout History, to number: Int64) throws -> Bool {
        guard number > history.horizon.number, number <= history.head.number else { return false }
        var needs = SpaceNeeds()
        needs.entries = .init(first: number, limit: 1)
        guard let entry = try content(for: needs).entries.first, entry.number == number else { throw SpaceDamage() }
        history.horizon = Cursor(epoch: history.epoch, number: number, tag: entry.tag)
        var changes = SpaceContent()
        changes.history = history
        try save(changes)
        try removeEntries(through: number)
        return true
    }
}
