import GRDB
import RunwaySQLite

/// Erases entries in transactions that are small enough for the ``SpaceReserve``.
extension Journal {
    /// The maximum number of entries that one transaction erases from one scope (an account). Each entry may be in a
    /// different page of the file.
    static let maximumErasureCount = 250
    /// The maximum number of entries that one transaction erases if all scopes are erased. These entries are in
    /// consecutive pages, so their size matters most. This number limits the index pages of small entries.
    private static let maximumTotalErasureCount = 5000
    /// The total size of removed payloads, in bytes, after which a transaction of an erasure ends.
    private static let maximumErasureByteCount = 1 << 20

    /// Removes every entry of a scope (an account), also those that are set aside, and overwrites their bytes in the
    /// file. `nil` removes the entries of all scopes. If no entry is left, the file is shrunk.
    ///
    /// The newest entries are removed first. If the process ends before all are removed, the oldest remain, and are
    /// sent in a new stream. Unreadable files that were set aside may contain entries of the scope, so they are
    /// removed, too.
    ///
    /// - Parameter change: A change in the first transaction, before entries are removed. The default does nothing.
    func erase(
        _ scope: String?, alongside change: () throws(StorageError) -> Void = {}
    ) throws(StorageError) {
        // Overwriting removed bytes empties the write-ahead log, so that each transaction can use the log's whole
        // space.
        try overwriteRemoved()
        try transaction { () throws(StorageError) in
            try write { database in
                // The stream is removed first. Otherwise its number could identify a batch with only some entries.
                try database.execute(sql: "DELETE FROM stream WHERE ?1 IS NULL OR scope = ?1", arguments: [scope])
                try removeSettings(database, of: scope)
            }
            try change()
        }
        var last: Int64? = Int64.max
        while let end = last {
            last = try write { database in
                let next = try eraseNewest(database, of: scope, upTo: end)
                // No entry is left, so the counts have to be zero. A damaged count is corrected.
                if next == nil {
                    try database.execute(sql: "DELETE FROM tally WHERE ?1 IS NULL OR scope = ?1", arguments: [scope])
                }
                return next
            }
            try overwriteRemoved()
        }
    }

    /// Removes the newest entries up to a position. Returns the next position to remove; `nil` if no entry is left.
    private func eraseNewest(_ database: Database, of scope: String?, upTo end: Int64) throws -> Int64? {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT sequence, length(payload) FROM entry WHERE (?1 IS NULL OR scope = ?1) AND sequence <= ?2
                ORDER BY sequence DESC LIMIT ?3
                """,
            arguments: [scope, end, scope == nil ? Self.maximumTotalErasureCount : Self.maximumErasureCount])
        var (first, byteCount) = (Int64?.none, 0)
        for row in rows where byteCount < Self.maximumErasureByteCount {
            first = try row.value(0) as Int64
            byteCount += try row.value(1)
        }
        guard let first else { return nil }
        try database.execute(
            sql: "DELETE FROM entry WHERE (?1 IS NULL OR scope = ?1) AND sequence BETWEEN ?2 AND ?3",
            arguments: [scope, first, end])
        return first == .min ? nil : first - 1
    }
}
