import Foundation
import GRDB
import RunwaySQLite

/// Functions for the offline queue, whose entries have fixed positions and are changed in place.
extension Journal {
    /// Returns the greatest position that was ever used.
    func lastSequence() throws(StorageError) -> Int64 {
        try write { database in
            let stored = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'entry'") ?? 0
            // The stored number may be damaged.
            if (0...(Int64(1) << 52)).contains(stored) { return stored }
            return try Int64.fetchOne(database, sql: "SELECT max(sequence) FROM entry") ?? 0
        }
    }

    /// Stores an entry at a position, or at the next free one. Evicts nothing.
    ///
    /// - Parameter state: The state of the entry. The default is waiting.
    /// - Returns: The position.
    /// - Throws: ``StorageError/Kind/full`` if all entries together, including those set aside, would exceed the
    ///   limits.
    func insert(
        _ entry: JournalEntry, at sequence: Int64, _ time: JournalTime, as state: JournalEntry.State = .waiting
    ) throws(StorageError) -> Int64 {
        try write { database in
            let moment = try advance(database, to: time)
            var stored = try coder.sealed(entry)
            try checkRoom(database, count: 1, byteCount: stored.payload.count)
            var sequence = sequence
            let search = try database.cachedStatement(sql: "SELECT 1 FROM entry WHERE sequence = ?")
            while try Bool.fetchOne(search, arguments: [sequence]) != nil { sequence &+= 1 }
            stored.sequence = sequence
            try database.execute(
                sql: """
                    INSERT INTO entry (sequence, id, scope, priority, moment, payload, checksum, state)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    sequence, Data(entry.id.bytes), entry.scope, entry.priority, moment, Data(stored.payload),
                    RowChecksum.of(stored, at: moment), state.rawValue,
                ])
            return sequence
        }
    }

    private func checkRoom(_ database: Database, count: Int, byteCount: Int) throws {
        let row = try Row.fetchOne(database, sql: "SELECT sum(count), sum(bytes) FROM tally")
        let total = row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0
        let bytes = row.flatMap { Int.fromDatabaseValue($0[1]) } ?? 0
        guard total + count <= limits.maximumCount, bytes + byteCount <= limits.maximumByteCount else {
            throw StorageError(
                .full, "\(url.lastPathComponent) has \(total) entries of \(bytes) bytes, and no room for more.")
        }
    }

    /// Returns the entries of a scope (an account), or of all scopes if `scope` is `nil`, in their order. Damaged
    /// entries are removed and counted.
    func entries(of scope: String? = nil) throws(StorageError) -> [JournalEntry] {
        try write { try sound($0, scope == nil ? "?1 IS NULL" : "scope = ?1", [scope]) }
    }

    /// Returns the entry with an id; `nil` if it does not exist or is damaged.
    func entry(_ id: UUID) throws(StorageError) -> JournalEntry? {
        try write { try sound($0, "id = ?", [Data(id.bytes)]).first }
    }

    /// Returns whether a scope (an account), or any scope if `scope` is `nil`, has entries in any state.
    func hasEntries(of scope: String?) throws(StorageError) -> Bool {
        try write { database in
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE ?1 IS NULL OR scope = ?1)", arguments: [scope])
                ?? false
        }
    }

    /// Returns the first entry of a scope (an account) that is claimed or waiting; `nil` if the scope has no such
    /// entry. Damaged entries are removed and counted.
    func first(of scope: String) throws(StorageError) -> JournalEntry? {
        try write { database in
            let statement = """
                SELECT \(JournalEntry.columns) FROM entry WHERE scope = ? AND state < 2 ORDER BY state DESC, sequence LIMIT 1
                """
            while let row = try Row.fetchOne(database, sql: statement, arguments: [scope]) {
                if let entry = JournalEntry(row) { return coder.opened(entry) }
                try removeDamaged(database, row)
            }
            return nil
        }
    }

    /// Marks a waiting entry as claimed, since its owner is sending it. For owners that send one entry at a time.
    func claim(_ id: UUID) throws(StorageError) {
        try write { database in
            try database.cachedStatement(sql: "UPDATE entry SET state = 1 WHERE id = ? AND state = 0")
                .execute(arguments: [Data(id.bytes)])
        }
    }

    /// Replaces the bytes of an entry. Its position stays, and it waits from now on.
    ///
    /// - Parameters:
    ///   - isLimited: Whether the limits of the file are checked. The default is `true`.
    ///   - keepsAge: Whether the age of the entry stays. The default is `false`: the age starts at zero.
    /// - Throws: The errors of ``insert(_:at:_:as:)``.
    func replace(
        _ placed: JournalEntry, with payload: [UInt8], _ time: JournalTime, isLimited: Bool = true,
        keepsAge: Bool = false
    ) throws(StorageError) {
        try write { database in
            var moment = try advance(database, to: time)
            if keepsAge {
                let former = try Int64.fetchOne(
                    database, sql: "SELECT moment FROM entry WHERE sequence = ?", arguments: [placed.sequence])
                moment = former ?? moment
            }
            var entry = placed
            entry.payload = payload
            entry = try coder.sealed(entry)
            // The file may exceed the limits already, since set-aside entries are not evicted for waiting ones.
            let growth = try entry.payload.count - byteCount(database, placed.sequence)
            if isLimited, growth > 0 { try checkRoom(database, count: 0, byteCount: growth) }
            // The entry is removed and added again, since the triggers that count bytes run only when entries are
            // added, removed, or change their state.
            try changeOne(database, "DELETE FROM entry WHERE sequence = ?", placed.sequence)
            try database.execute(
                sql:
                    "INSERT INTO entry (sequence, id, scope, priority, moment, payload, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    placed.sequence, Data(entry.id.bytes), entry.scope, entry.priority, moment, Data(entry.payload),
                    RowChecksum.of(entry, at: moment),
                ])
        }
    }

    /// Returns the size of an entry in the file, where it may be encrypted.
    private func byteCount(_ database: Database, _ sequence: Int64) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT length(payload) FROM entry WHERE sequence = ?", arguments: [sequence]) ?? 0
    }

    /// Sets entries aside with their reasons. Entries with a `nil` reason wait instead.
    func place(_ reasons: [UUID: String?]) throws(StorageError) {
        if reasons.isEmpty { return }
        try write { database in
            for (id, reason) in reasons {
                try database.execute(
                    sql: "UPDATE entry SET state = ?, reason = ? WHERE id = ?",
                    arguments: [reason == nil ? 0 : 2, reason, Data(id.bytes)])
            }
        }
    }

    func remove(_ ids: Set<UUID>) throws(StorageError) {
        if ids.isEmpty { return }
        try write { database in
            for id in ids {
                try database.execute(sql: "DELETE FROM entry WHERE id = ?", arguments: [Data(id.bytes)])
            }
        }
    }

    /// Returns the claimed or waiting entries that are older than allowed. The age counts from the last change.
    func overdue(at time: JournalTime) throws(StorageError) -> Set<UUID> {
        try write { database in
            let moment = try advance(database, to: time) - limits.maximumAge.milliseconds
            let rows = try Row.fetchAll(
                database, sql: "SELECT id FROM entry WHERE state < 2 AND moment < ?", arguments: [moment])
            return Set(rows.compactMap { UUID.fromDatabaseValue($0[0]) })
        }
    }

    /// Whether an entry, in any state, is older than allowed. The age counts from the last change.
    func isOverdue(_ id: UUID, at time: JournalTime) throws(StorageError) -> Bool {
        try write { database in
            let moment = try advance(database, to: time) - limits.maximumAge.milliseconds
            return try Bool.fetchOne(
                database, sql: "SELECT moment < ? FROM entry WHERE id = ?", arguments: [moment, Data(id.bytes)])
                ?? false
        }
    }

    /// Returns the number of set-aside entries whose reason begins with a word.
    func setAsideCount(beginning word: String) throws(StorageError) -> Int {
        try write { database in
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM entry WHERE state = 2 AND reason LIKE ?", arguments: ["\(word)%"])
                ?? 0
        }
    }
}
