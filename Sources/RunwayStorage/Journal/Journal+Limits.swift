import Foundation
import GRDB
import RunwaySQLite

extension Journal {
    // Every append runs the first of these statements, and often the last. They name their indices, since SQLite would
    // choose `entry_by_scope` and sort all waiting entries.

    /// Selects the storage time (moment) of the oldest entry that waits to be sent or waits for its key.
    static let oldestMoment = """
        SELECT moment FROM entry INDEXED BY entry_by_moment WHERE state IN (0, 3) ORDER BY moment LIMIT 1
        """
    /// Removes the waiting entries that were stored before a moment.
    static let removalByAge = "DELETE FROM entry INDEXED BY entry_by_moment WHERE state IN (0, 3) AND moment < ?"
    /// Selects the entries to evict, the oldest of the lowest priority first.
    static let evictionOrder = """
        SELECT sequence, length(payload), id FROM entry INDEXED BY entry_by_priority
        WHERE state IN (0, 3) ORDER BY priority, sequence LIMIT ?
        """

    func evict(_ database: Database, at moment: Int64) throws -> Set<UUID> {
        var evicted = try evictOld(database, before: moment - limits.maximumAge.milliseconds)
        let row = try Row.fetchOne(database, sql: "SELECT sum(count), sum(bytes) FROM tally WHERE state <> 2")
        let (count, byteCount) = (
            row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0, row.flatMap { Int.fromDatabaseValue($0[1]) } ?? 0
        )
        var (excessCount, excessBytes) = (count - limits.maximumCount, byteCount - limits.maximumByteCount)
        while excessCount > 0 || excessBytes > 0 {
            let rows = try Row.fetchAll(
                database, sql: Self.evictionOrder, arguments: [max(1, min(excessCount, 1000))])
            if rows.isEmpty { break }
            for row in rows {
                try self.count(database, 1, as: excessCount > 0 ? .count : .bytes)
                try database.execute(
                    sql: "DELETE FROM entry WHERE sequence = ?", arguments: [try row.value(0) as Int64])
                excessCount -= 1
                excessBytes -= try row.value(1)
                if let id = UUID.fromDatabaseValue(row[2]) { evicted.insert(id) }
            }
        }
        return evicted
    }

    private func evictOld(_ database: Database, before moment: Int64) throws -> Set<UUID> {
        let first = try Int64.fetchOne(database, sql: Self.oldestMoment)
        guard let first, first < moment else { return [] }
        try database.execute(sql: Self.removalByAge, arguments: [moment])
        try count(database, database.changesCount, as: .age)
        return []
    }

    /// The first character of the stored reason of an entry that was set aside in a series. It is removed when the
    /// series ends; see ``endSeries(of:isSentAgain:at:)``.
    private static let seriesMark = "\u{1}"
    /// The stored reason of an entry that waits again after its series has ended. No other reason contains this text.
    private static let returnedReason = "\u{1}\u{1}"

    /// Sets entries of a batch aside. They are not sent again until ``retry(_:at:)``.
    ///
    /// - Parameters:
    ///   - reasons: The reasons by entry id. A reason is a short text from the server that the app shows.
    ///   - isInSeries: Whether ``endSeries(of:isSentAgain:at:)`` may make the entries wait again, once. The default is
    ///     `false`.
    /// - Returns: The number of entries that were set aside. The other entries are no longer in the current batch.
    @discardableResult
    func setAside(
        _ reasons: [UUID: String], of batch: JournalBatch, inSeries isInSeries: Bool = false
    ) throws(StorageError) -> Int {
        try write { database in
            var setAsideCount = 0
            for entry in batch.entries {
                guard let reason = reasons[entry.id] else { continue }
                try database.execute(
                    sql: """
                        UPDATE entry SET state = 2, reason = CASE WHEN reason IS ? THEN '' ELSE ? END || ?
                        WHERE sequence = ? AND state = 1
                        """,
                    arguments: [Self.returnedReason, isInSeries ? Self.seriesMark : "", reason, entry.sequence])
                setAsideCount += database.changesCount
            }
            let count =
                try Int.fetchOne(database, sql: "SELECT sum(count) FROM tally WHERE state = 2") ?? 0
            guard count > limits.maximumSetAsideCount else { return setAsideCount }
            try database.execute(
                sql: """
                    DELETE FROM entry WHERE sequence IN
                    (SELECT sequence FROM entry WHERE state = 2 ORDER BY sequence LIMIT ?)
                    """,
                arguments: [count - limits.maximumSetAsideCount])
            try self.count(database, database.changesCount, as: .setAside)
            return setAsideCount
        }
    }

    /// Returns the entries that are set aside, oldest first, with the reasons.
    func entriesSetAside() throws(StorageError) -> [JournalEntry] {
        try write { database in
            try sound(database, nil, state: .setAside).map { entry in
                var entry = entry
                entry.reason = String(entry.reason.trimmingPrefix(Self.seriesMark))
                return entry
            }
        }
    }

    /// Ends the series of entries of a scope (an account) that were set aside one after the other, in this run or
    /// earlier ones.
    ///
    /// - Parameter isSentAgain: Whether the entries wait again, from now on. Otherwise they stay set aside.
    /// - Returns: The number of entries that wait again.
    func endSeries(of scope: String, isSentAgain: Bool, at time: JournalTime) throws(StorageError) -> Int {
        try write { database in
            let series = "scope = ? AND substr(reason, 1, 1) = ?"
            let arguments: StatementArguments = [scope, Self.seriesMark]
            if isSentAgain {
                let moment = try advance(database, to: time)
                return try restore(database, series, arguments, since: moment, reason: Self.returnedReason)
            }
            try database.execute(
                sql: "UPDATE entry SET reason = substr(reason, 2) WHERE state = 2 AND \(series)", arguments: arguments)
            return 0
        }
    }

    /// Changes entries that are set aside to waiting entries, so that they are sent again. Their age starts at zero.
    func retry(_ ids: Set<UUID>, at time: JournalTime) throws(StorageError) {
        try write { database in
            let moment = try advance(database, to: time)
            for id in ids { try restore(database, "id = ?", [Data(id.bytes)], since: moment, reason: nil) }
        }
    }

    /// Changes the set-aside entries that meet a condition to waiting entries, as if they had been stored at `moment`.
    /// Set-aside entries may be older than the maximum age, which applies only to waiting entries. Damaged entries are
    /// removed.
    ///
    /// - Returns: The number of entries that wait again.
    @discardableResult
    private func restore(
        _ database: Database, _ condition: String, _ arguments: StatementArguments, since moment: Int64, reason: String?
    ) throws -> Int {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT \(JournalEntry.columns) FROM entry WHERE state = 2 AND \(condition)"),
            arguments: arguments)
        var count = 0
        for row in rows {
            guard let found = JournalEntry(row) else {
                try removeDamaged(database, row)
                continue
            }
            try database.cachedStatement(
                sql: "UPDATE entry SET state = 0, reason = ?, moment = ?, checksum = ? WHERE sequence = ?"
            ).execute(arguments: [
                reason, moment, RowChecksum.of(found, at: moment), found.sequence,
            ])
            count += 1
        }
        return count
    }

    func discard(_ ids: Set<UUID>) throws(StorageError) {
        try write { database in
            for id in ids {
                try database.cachedStatement(sql: "DELETE FROM entry WHERE state IN (2, 3) AND id = ?")
                    .execute(arguments: [Data(id.bytes)])
            }
        }
    }
}
