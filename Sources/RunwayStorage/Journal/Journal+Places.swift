import Foundation
import GRDB
import RunwaySQLite

/// An entry with what its place in the file says of it.
struct PlacedEntry: Sendable, Equatable {
    /// What an entry waits for. The raw values are stored.
    enum State: Int, Sendable {
        /// It was never claimed, or its last claim was released.
        case waiting = 0
        /// It was claimed, and that is not over.
        case claimed = 1
        /// It is set aside.
        case setAside = 2
        /// It waits for the key with which it was encrypted.
        case sealed = 3
        /// It was stored before its owner did what it stands for, and that is not over. No claim returns it.
        case ahead = 4
    }

    var sequence: Int64
    var entry: JournalEntry
    var state: State
    /// Why it is set aside; empty otherwise.
    var reason: String
}

/// For an owner whose entries have an order of their own, and are changed in their places: the offline queue.
extension Journal {
    /// The greatest place that was ever used.
    func lastSequence() throws(StorageError) -> Int64 {
        try write { database in
            let stored = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'entry'") ?? 0
            // What was stored may be damaged.
            if (0...(Int64(1) << 52)).contains(stored) { return stored }
            return try Int64.fetchOne(database, sql: "SELECT max(sequence) FROM entry") ?? 0
        }
    }

    /// Stores an entry at a place or, if there is one already, at the next that is free, and evicts nothing.
    ///
    /// - Parameter state: What it waits for. The default is to be claimed.
    /// - Returns: The place.
    /// - Throws: ``StorageError/Kind/full`` if there would be more entries or bytes than allowed, those that are set
    ///   aside included.
    func insert(
        _ entry: JournalEntry, at sequence: Int64, _ time: JournalTime, as state: PlacedEntry.State = .waiting
    ) throws(StorageError) -> Int64 {
        try write { database in
            let moment = try advance(database, to: time)
            let stored = try coder.sealed(entry)
            try checkRoom(database, count: 1, byteCount: stored.payload.count)
            var sequence = sequence
            let search = try database.cachedStatement(sql: "SELECT 1 FROM entry WHERE sequence = ?")
            while try Bool.fetchOne(search, arguments: [sequence]) != nil { sequence &+= 1 }
            try database.execute(
                sql: """
                    INSERT INTO entry (sequence, id, scope, priority, moment, payload, checksum, state)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    sequence, Data(entry.id.bytes), entry.scope, entry.priority, moment, Data(stored.payload),
                    RowChecksum.of(stored, sequence, at: moment), state.rawValue,
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

    /// The entries in their order, of one scope or, with `nil`, of all. Those that are damaged are removed and counted.
    func entries(of scope: String? = nil) throws(StorageError) -> [PlacedEntry] {
        try entries(scope == nil ? "?1 IS NULL" : "scope = ?1", scope)
    }

    /// One entry; `nil` if there is none with this id, or it is damaged.
    func entry(_ id: UUID) throws(StorageError) -> PlacedEntry? {
        try entries("id = ?1", Data(id.bytes)).first
    }

    private func entries(
        _ condition: String, _ value: (any DatabaseValueConvertible)?
    ) throws(StorageError) -> [PlacedEntry] {
        try write { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(SequencedEntry.columns), state, reason FROM entry
                    WHERE \(condition) ORDER BY sequence
                    """, arguments: [value])
            return try rows.compactMap { row in
                if let entry = SequencedEntry(row), let number = Int.fromDatabaseValue(row[7]),
                    let state = PlacedEntry.State(rawValue: number)
                {
                    return PlacedEntry(
                        sequence: entry.sequence, entry: coder.opened(entry.entry), state: state,
                        reason: String.fromDatabaseValue(row[8]) ?? "")
                }
                try removeDamaged(database, row)
                return nil
            }
        }
    }

    /// Whether there are entries of a scope or, with `nil`, of any, whatever their state.
    func hasEntries(of scope: String?) throws(StorageError) -> Bool {
        try write { database in
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE ?1 IS NULL OR scope = ?1)", arguments: [scope])
                ?? false
        }
    }

    /// The id of the first entry of a scope that is claimed or waits; `nil` if there is none.
    func first(of scope: String) throws(StorageError) -> UUID? {
        try write { database in
            let row = try Row.fetchOne(
                database,
                sql: "SELECT id FROM entry WHERE scope = ? AND state < 2 ORDER BY state DESC, sequence LIMIT 1",
                arguments: [scope])
            return row.flatMap { UUID.fromDatabaseValue($0[0]) }
        }
    }

    /// Replaces the bytes of an entry in its place, and has it wait from now on.
    ///
    /// - Parameters:
    ///   - isLimited: Whether the limits of the file are checked. The default is `true`.
    ///   - keepsAge: Whether it waits since it was first stored. The default is `false`: since now.
    /// - Throws: As ``insert(_:at:_:as:)``.
    func replace(
        _ placed: PlacedEntry, with payload: [UInt8], _ time: JournalTime, isLimited: Bool = true,
        keepsAge: Bool = false
    ) throws(StorageError) {
        try write { database in
            var moment = try advance(database, to: time)
            if keepsAge {
                let former = try Int64.fetchOne(
                    database, sql: "SELECT moment FROM entry WHERE sequence = ?", arguments: [placed.sequence])
                moment = former ?? moment
            }
            var entry = placed.entry
            entry.payload = payload
            entry = try coder.sealed(entry)
            // A file may have more than allowed, since entries that are set aside are not evicted for those that wait.
            let growth = try entry.payload.count - byteCount(database, placed.sequence)
            if isLimited, growth > 0 { try checkRoom(database, count: 0, byteCount: growth) }
            // In two steps, since the tally of bytes follows entries that are added or removed, or change their state.
            try changeOne(database, "DELETE FROM entry WHERE sequence = ?", placed.sequence)
            try database.execute(
                sql:
                    "INSERT INTO entry (sequence, id, scope, priority, moment, payload, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    placed.sequence, Data(entry.id.bytes), entry.scope, entry.priority, moment, Data(entry.payload),
                    RowChecksum.of(entry, placed.sequence, at: moment),
                ])
        }
    }

    /// How many bytes an entry has in the file, where it may be encrypted.
    private func byteCount(_ database: Database, _ sequence: Int64) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT length(payload) FROM entry WHERE sequence = ?", arguments: [sequence]) ?? 0
    }

    /// Sets entries aside with their reasons, or has them wait where the reason is `nil`.
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

    /// Removes entries, whatever their state.
    func remove(_ ids: Set<UUID>) throws(StorageError) {
        if ids.isEmpty { return }
        try write { database in
            for id in ids {
                try database.execute(sql: "DELETE FROM entry WHERE id = ?", arguments: [Data(id.bytes)])
            }
        }
    }

    /// The entries that are claimed or wait and were stored, or changed, longer ago than allowed.
    func overdue(at time: JournalTime) throws(StorageError) -> Set<UUID> {
        try write { database in
            let moment = try advance(database, to: time) - limits.maximumAge.milliseconds
            let rows = try Row.fetchAll(
                database, sql: "SELECT id FROM entry WHERE state < 2 AND moment < ?", arguments: [moment])
            return Set(rows.compactMap { UUID.fromDatabaseValue($0[0]) })
        }
    }

    /// Whether an entry was stored, or changed, longer ago than allowed, whatever its state.
    func isOverdue(_ id: UUID, at time: JournalTime) throws(StorageError) -> Bool {
        try write { database in
            let moment = try advance(database, to: time) - limits.maximumAge.milliseconds
            return try Bool.fetchOne(
                database, sql: "SELECT moment < ? FROM entry WHERE id = ?", arguments: [moment, Data(id.bytes)])
                ?? false
        }
    }

    /// How many entries are set aside whose reasons begin with a word.
    func setAsideCount(beginning word: String) throws(StorageError) -> Int {
        try write { database in
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM entry WHERE state = 2 AND reason LIKE ?", arguments: ["\(word)%"])
                ?? 0
        }
    }
}
