import GRDB
import RunwaySQLite

/// Erasing, in transactions that are small enough for the ``SpaceReserve``.
extension Journal {
    /// The largest number of entries of one scope that one transaction erases: each may be in a page of its own.
    static let maximumErasureCount = 250
    /// The largest number of entries that one transaction erases if all scopes are erased. The entries are in
    /// consecutive pages, so that mostly their bytes count; this number limits the pages of the indices for small
    /// entries.
    private static let maximumTotalErasureCount = 5000
    /// An erasing transaction ends with the entry with which its payloads reach 1 MiB.
    private static let maximumErasureByteCount = 1 << 20

    /// Removes every entry of a scope, also those that are set aside, and overwrites their bytes in the file. With
    /// `nil`, removes the entries of all scopes. If no entry is left, the file is cut to its content.
    ///
    /// The newest entries are removed first. If the process ends in between, the oldest are still there, and are sent
    /// in a new stream. Files that could not be read, and were set aside, may have entries of the scope: they are
    /// removed, too.
    ///
    /// - Parameter change: A part of the first transaction, which removes no entry. The default does nothing.
    func erase(
        _ scope: String?, alongside change: () throws(StorageError) -> Void = {}
    ) throws(StorageError) {
        // First, so that each transaction has the space of the whole log.
        try overwriteRemoved()
        try transaction { () throws(StorageError) in
            try write { database in
                // Before the entries: a number of a stream must not stand for the rest of its batch.
                try database.execute(sql: "DELETE FROM stream WHERE ?1 IS NULL OR scope = ?1", arguments: [scope])
                try removeSettings(database, of: scope)
            }
            try change()
        }
        var last: Int64? = Int64.max
        while let end = last {
            last = try write { database in
                let next = try eraseNewest(database, of: scope, upTo: end)
                // No entry is left: neither is a count of entries, unless it was damaged.
                if next == nil {
                    try database.execute(sql: "DELETE FROM tally WHERE ?1 IS NULL OR scope = ?1", arguments: [scope])
                }
                return next
            }
            try overwriteRemoved()
        }
    }

    /// Removes the newest entries up to a place, and returns the place before them; `nil` if no entry was left.
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
