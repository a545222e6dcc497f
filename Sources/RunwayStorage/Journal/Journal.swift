import Foundation
import GRDB
import RunwaySQLite

/// Stores entries in a SQLite file until its owner acknowledges them. The action log and the offline queue use it.
///
/// The journal has these guarantees:
///
/// - An entry survives the end of the process, even a kill, when ``append(_:at:lost:)`` has returned. With
///   ``StorageDatabase/Durability/full`` it survives a power loss.
/// - One `append` stores either all of its entries or none. It ignores an entry whose id is stored already, so that an
///   append with an unknown outcome can be repeated.
/// - ``claim(_:maximumCount:maximumByteCount:skipping:)`` returns the entries of a scope in batches, in the order in
///   which they were appended. Until a batch has ended, every claim of its scope returns it, also in later runs.
/// - A number of a stream identifies one batch for ever. The entries of a refused batch are claimed again in a new
///   stream.
/// - An entry leaves the file only if it is acknowledged, discarded, erased or evicted. Evictions are counted by
///   reason, in the same transaction. Entries of a claimed batch are not evicted.
/// - A damaged entry is never returned: it is removed and counted. An entry that can't be decrypted is not damaged: it
///   is returned as sealed (``JournalEntry/isSealed``), and waits for its key (``seal(_:)``, ``unseal()``).
///
/// An entry may be claimed more than once: if its owner ends without acknowledging a batch, a later claim returns it.
///
/// Only one object can open a file. Any other object, also in another process, fails with ``StorageError/Kind/locked``.
/// All functions run one after another, and block while the disk works, so call them on a queue of their own.
final class Journal: Sendable {
    /// The secret of the file. Every new file has a new secret.
    let secret: InstallationSecret
    /// The id of the file, computed from ``secret``.
    var installation: UUID { secret.installation }
    let limits: JournalLimits
    let url: URL
    let coder: PayloadCoder
    private let queue: DatabaseQueue

    /// Opens the file at a URL. Creates it if it does not exist.
    ///
    /// - Throws: ``StorageError/Kind/corrupted`` or ``StorageError/Kind/newerSchema`` if the file has to be set aside,
    ///   as ``LockedJournalFile`` does. Any other kind if it may be possible to open the file later.
    init(
        at url: URL, limits: JournalLimits = JournalLimits(), durability: StorageDatabase.Durability = .full,
        sealing: (any PayloadSealing)? = nil, time: JournalTime
    ) throws(StorageError) {
        self.url = url
        coder = PayloadCoder(sealing: sealing)
        self.limits = limits
        do {
            // Acknowledged entries are overwritten, too, so that none of their bytes remain after an erasure.
            let queue = try StorageDatabase.open(at: url, durability: durability, overwritesRemovedBytes: true)
            secret = try queue.inDatabase { database in
                // SQLite holds the lock of the file until the file is closed, so that only one process appends and
                // claims.
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                var secret = InstallationSecret()
                try database.inTransaction(.immediate) {
                    try JournalSchema.migrate(database)
                    try JournalSchema.recount(database)
                    try JournalSetting.check(database)
                    if let row = try JournalClock.read(database) {
                        secret = try Self.secret(of: row, in: database)
                    } else {
                        try secret.write(to: database)
                        try JournalClock(secret.installation, 0, time).insert(database)
                    }
                    return .commit
                }
                return secret
            }
            self.queue = queue
        } catch {
            throw StorageError(error, at: url)
        }
    }

    /// - Throws: `SQLITE_CORRUPT` if the file does not contain the secret from which its id was computed.
    private static func secret(of row: JournalClock, in database: Database) throws -> InstallationSecret {
        guard let secret = try InstallationSecret.read(database), secret.installation == row.installation else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        return secret
    }

    /// Closes the file. No other function may be called afterwards.
    func close() throws(StorageError) {
        do { try queue.close() } catch { throw StorageError(error, at: url) }
    }

    /// Runs one transaction, or a part of the current ``transaction(_:)``. The transaction must not catch the error of
    /// a part and continue, since SQLite may have rolled back the earlier parts. On a full disk, `change` may run
    /// twice.
    func write<Value>(_ change: (Database) throws -> Value) throws(StorageError) -> Value {
        do {
            let isPart = queue.unsafeReentrantWrite(\.isInsideTransaction)
            return try isPart ? queue.unsafeReentrantWrite(change) : queue.writeMakingRoom(change)
        } catch {
            throw StorageError(error, at: url)
        }
    }

    /// Runs functions of this journal in one transaction. If the disk is full, `changes` may run up to four times.
    func transaction<Value>(_ changes: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        do throws(StorageError) {
            return try write { _ in try changes() }
        } catch {
            // `write` makes room only for its own changes, and not for the other changes of the transaction.
            guard error.kind == .full, (try? queue.moveLog()) != nil else { throw error }
            return try write { _ in try changes() }
        }
    }

    /// Runs changes that do not wait for the drive. A power loss may undo them, but leaves the database consistent.
    func withoutFlush(_ changes: () throws(StorageError) -> Void) throws(StorageError) {
        func set(_ level: Int) throws(StorageError) {
            do { try queue.inDatabase { try $0.execute(sql: "PRAGMA synchronous = \(level)") } } catch {
                throw StorageError(error, at: url)
            }
        }
        let level = queue.inDatabase { (try? Int.fetchOne($0, sql: "PRAGMA synchronous")) ?? 2 }
        // 1 is SQLite's number for NORMAL, and 2 for FULL.
        try set(1)
        let result = Result { () throws(StorageError) in try changes() }
        try set(level)
        try result.get()
    }

    /// The number of rows added, changed or removed since the file was opened.
    var changeCount: Int { queue.inDatabase(\.totalChangesCount) }

    func counts() throws(StorageError) -> JournalCounts {
        try write { database in
            var counts = JournalCounts()
            for row in try Row.fetchAll(database, sql: "SELECT state, scope, count, bytes FROM tally") {
                switch try row.value(0) as Int {
                case 2: counts.setAside += try row.value(2)
                case 3: counts.sealed += try row.value(2)
                case 4: break
                default:
                    counts.waiting[try row.value(1), default: 0] += try row.value(2)
                    counts.waitingByteCount += try row.value(3)
                }
            }
            for row in try Row.fetchAll(database, sql: "SELECT reason, count FROM lost") {
                if let reason = JournalLoss(rawValue: try row.value(0)) { counts.lost[reason] = try row.value(1) }
            }
            return counts
        }
    }

    /// Stores entries in their order, and evicts the entries that exceed the limits.
    ///
    /// - Returns: The ids of entries of this call that were evicted at once.
    @discardableResult
    func append(_ entries: [JournalEntry], at time: JournalTime) throws(StorageError) -> Set<UUID> {
        try write { database in
            let moment = try advance(database, to: time)
            var sequence =
                try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'entry'") ?? 0
            let insert = try database.cachedStatement(
                sql: """
                    INSERT INTO entry (sequence, id, scope, priority, moment, payload, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (id) DO NOTHING
                    """)
            for entry in entries {
                sequence &+= 1
                var stored = try coder.sealed(entry)
                stored.sequence = sequence
                try insert.execute(arguments: [
                    sequence, Data(entry.id.bytes), entry.scope, entry.priority, moment, Data(stored.payload),
                    RowChecksum.of(stored, at: moment),
                ])
            }
            let evicted = try evict(database, at: moment)
            return evicted.isEmpty ? [] : evicted.intersection(entries.map(\.id))
        }
    }

    /// Returns the current time of the journal (``JournalTime/moment(after:at:)``), and stores it together with the
    /// system's clocks.
    func advance(_ database: Database, to time: JournalTime) throws -> Int64 {
        let (moment, stored) = try moments(database, time)
        // If nothing changed, nothing is written, so an owner that only reads ages causes no writes.
        guard moment != stored.moment || stored.boot != time.boot || time.boot.isEmpty else { return moment }
        try JournalClock(installation, moment, time).update(database)
        return moment
    }

    /// Returns the age of the oldest waiting entry of these scopes (accounts); zero if none waits. Writes nothing.
    func ageOfOldest(in scopes: some Sequence<String>, at time: JournalTime) throws(StorageError) -> Duration {
        try write { database in
            let oldest = try scopes.compactMap { scope in
                try Int64.fetchOne(
                    database.cachedStatement(
                        sql: "SELECT moment FROM entry WHERE state = 0 AND scope = ? ORDER BY sequence LIMIT 1"),
                    arguments: [scope])
            }.min()
            guard let oldest else { return .zero }
            return .milliseconds(max(0, min(try moments(database, time).now, Int64(1) << 52) - max(0, oldest)))
        }
    }

    /// Returns the current time of the journal (``JournalTime/moment(after:at:)``), and the row with the last stored
    /// one.
    private func moments(_ database: Database, _ time: JournalTime) throws -> (now: Int64, stored: JournalClock) {
        guard let stored = try JournalClock.read(database) else {
            throw StorageError(.corrupted, "\(url.lastPathComponent) has no row of its own.")
        }
        return (time.moment(after: stored.moment, at: stored.time), stored)
    }
}

extension Journal {
    /// Returns the batch of a scope (an account) to send: the batch that has not ended, or a new one. Returns `nil` if
    /// no entry waits.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of entries in a new batch; at least 1.
    ///   - maximumByteCount: The maximum size of a new batch in bytes. A larger entry is the only one of its batch.
    ///   - skipped: Entries to leave out of a new batch. The default is none.
    func claim(
        _ scope: String, maximumCount: Int, maximumByteCount: Int, skipping skipped: Set<UUID> = []
    ) throws(StorageError) -> JournalBatch? {
        precondition(maximumCount > 0, "a batch holds at least one entry")
        return try write { database in
            // Every iteration removes damaged entries, or is the last one. The limit ends the loop if an index is
            // damaged.
            for _ in 0..<max(1000, limits.maximumCount) {
                let claimed = try sound(database, scope, state: .claimed)
                if !claimed.isEmpty {
                    if let (stream, number) = try stream(database, scope) {
                        return JournalBatch(stream: stream, number: number, scope: scope, entries: claimed)
                    }
                    // The batch number is damaged. In a new stream, the server recognises the entries by id.
                    try release(database, scope)
                }
                let found = try sound(database, scope, state: .waiting, limit: maximumCount + skipped.count)
                var waiting = found.filter { !skipped.contains($0.id) }
                waiting.removeLast(max(0, waiting.count - maximumCount))
                guard let first = waiting.first else {
                    if !found.isEmpty { return nil }
                    // The damaged entries that this iteration has read are removed now.
                    let hasMore = try Bool.fetchOne(
                        database, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE state = 0 AND scope = ?)",
                        arguments: [scope])
                    if hasMore == true { continue }
                    let isCounted = try Bool.fetchOne(
                        database, sql: "SELECT EXISTS (SELECT 1 FROM tally WHERE state < 2 AND scope = ?)",
                        arguments: [scope])
                    // An index is damaged. Checksums do not cover indices.
                    if isCounted == true { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                    return nil
                }
                var byteCount = first.payload.count
                let end =
                    waiting.dropFirst().firstIndex { entry in
                        byteCount += entry.payload.count
                        return byteCount > maximumByteCount
                    } ?? waiting.endIndex
                waiting.removeSubrange(end...)
                for index in waiting.indices {
                    try changeOne(
                        database, "UPDATE entry SET state = 1 WHERE sequence = ? AND state = 0",
                        waiting[index].sequence)
                    waiting[index].state = .claimed
                }
                let last = try stream(database, scope) ?? (UUID(), 0)
                let next = (stream: last.stream, number: last.number + 1)
                try database.execute(
                    sql: "REPLACE INTO stream VALUES (?, ?, ?, ?)",
                    arguments: [
                        scope, Data(next.stream.bytes), next.number,
                        RowChecksum.of(next.stream, next.number, scope),
                    ])
                return JournalBatch(stream: next.stream, number: next.number, scope: scope, entries: waiting)
            }
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
    }

    /// Ends a batch. Removes its entries with these ids; its other entries wait again at their positions.
    ///
    /// - Returns: The number of removed entries.
    @discardableResult
    func acknowledge(_ batch: JournalBatch, _ ids: Set<UUID>) throws(StorageError) -> Int {
        try write { database in
            guard try isOpen(database, batch) else { return 0 }
            let acknowledged = batch.entries.filter { ids.contains($0.id) }
            for entry in acknowledged {
                try changeOne(database, "DELETE FROM entry WHERE sequence = ? AND state = 1", entry.sequence)
            }
            try release(database, batch.scope)
            return acknowledged.count
        }
    }

    /// Ends a batch that the server refused, and its stream. Its entries wait again at their positions.
    func refuse(_ batch: JournalBatch) throws(StorageError) {
        try write { database in
            guard try isOpen(database, batch) else { return }
            try release(database, batch.scope)
            try database.execute(sql: "DELETE FROM stream WHERE scope = ?", arguments: [batch.scope])
        }
    }

    /// Overwrites removed bytes, and removes the files that were set aside.
    func overwriteRemoved() throws(StorageError) {
        try moveLog()
        do { try LockedJournalFile.removeSetAside(url) } catch { throw StorageError(error, at: url) }
    }

    /// Overwrites removed bytes. Files that were set aside stay.
    func moveLog() throws(StorageError) {
        do {
            // The write-ahead log still contains the removed bytes.
            try queue.moveLog()
            queue.shrink(ifEmpty: "entry")
        } catch {
            throw StorageError(error, at: url)
        }
    }

    /// Returns whether a batch is the current one of its scope (account). It may have ended, for example by an erasure.
    private func isOpen(_ database: Database, _ batch: JournalBatch) throws -> Bool {
        try stream(database, batch.scope).map { $0 == (batch.stream, batch.number) } ?? false
    }

    /// Changes one entry.
    ///
    /// - Throws: `SQLITE_CORRUPT` if the entry does not exist, since the index that found it contradicts the table.
    func changeOne(_ database: Database, _ sql: String, _ sequence: Int64) throws {
        try database.cachedStatement(sql: sql).execute(arguments: [sequence])
        guard database.changesCount == 1 else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    }

    private func release(_ database: Database, _ scope: String) throws {
        try database.execute(sql: "UPDATE entry SET state = 0 WHERE state = 1 AND scope = ?", arguments: [scope])
    }

    private func stream(_ database: Database, _ scope: String) throws -> (stream: UUID, number: Int64)? {
        guard
            let row = try Row.fetchOne(
                database, sql: "SELECT id, number, checksum FROM stream WHERE scope = ?", arguments: [scope]),
            let id = UUID.fromDatabaseValue(row[0]), let number = Int64.fromDatabaseValue(row[1]),
            Int64.fromDatabaseValue(row[2]) == RowChecksum.of(id, number, scope)
        else { return nil }
        return (id, number)
    }

    /// Returns the undamaged entries of a scope (an account) in a state, in their order. Removes the damaged ones.
    func sound(
        _ database: Database, _ scope: String?, state: JournalEntry.State, limit: Int = -1, after sequence: Int64 = .min
    ) throws -> [JournalEntry] {
        try sound(
            database, "state = ? AND \(scope == nil ? "?2 IS NULL" : "scope = ?") AND sequence > ?",
            [state.rawValue, scope, sequence], limit: limit)
    }

    /// Returns the undamaged entries that meet a condition, in their order. Removes and counts the damaged ones.
    func sound(
        _ database: Database, _ condition: String, _ arguments: StatementArguments, limit: Int = -1
    ) throws -> [JournalEntry] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT \(JournalEntry.columns) FROM entry WHERE \(condition) ORDER BY sequence LIMIT \(limit)",
            arguments: arguments)
        return try rows.compactMap { row in
            if let entry = JournalEntry(row) { return coder.opened(entry) }
            try removeDamaged(database, row)
            return nil
        }
    }

    /// Removes and counts a damaged entry. Its row begins with the sequence.
    func removeDamaged(_ database: Database, _ row: Row) throws {
        try changeOne(database, "DELETE FROM entry WHERE sequence = ?", try row.value(0))
        try count(database, 1, as: .damaged)
    }

    func count(_ database: Database, _ number: Int, as reason: JournalLoss) throws {
        if number == 0 { return }
        try database.execute(
            sql: "INSERT INTO lost VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            arguments: [reason.rawValue, number])
    }
}
