public import Foundation
import GRDB
import RunwaySQLite
public import RunwayServer

/// Stores the records of action logs in a SQLite file. A record is never stored twice.
///
/// ```swift
/// let sink = try SQLiteActionLogSink(at: folder.appending(path: "actions.sqlite"))
/// ActionLogRoute(to: sink).add(to: router.group("v1"))
/// ```
///
/// A batch is on disk when `store` returns: it survives any end of the process, and a power loss. Batches that arrive
/// while others are being written share the next transaction, so that one sync of the disk serves all of them.
///
/// The highest number of a stream and the ids of all records are stored in the same transaction as the records, and are
/// never removed. So neither an erasure nor ``removeContents(receivedBefore:)`` lets a record be stored twice. Rows
/// have checksums: ``ActionLogFile`` returns no record whose bytes changed on disk. A damaged number is not used; the
/// client then begins another stream.
///
/// One process writes a file; a second one fails with ``ServerStorageError/Kind/locked``. Other processes may read the
/// file (``ActionLogFile``).
public final class SQLiteActionLogSink: ActionLogErasing {
    private let database: ServerDatabase
    private let writer: GroupCommit<ActionLogChange, Result<ActionLogStorage, StoreRefusal>>
    /// Removes the contents of records on its own thread, so that batches can be stored at the same time.
    private let eraser: GroupCommit<ActionLogOwner, Void>

    /// Opens a file, or creates it so that only its user can read it. The initializer blocks.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - limits: Limits for pending batches and for batches that are committed together.
    ///   - quotas: Limits for the stored bytes. The default is that of `ActionLogQuotas`.
    ///   - now: Returns the date that is stored as the time of receipt. The default is the system's clock.
    /// - Throws: ``ServerStorageError``. A damaged file is left unchanged: a new file would not know which records its
    ///   clients have already sent.
    public init(
        at file: URL, limits: ActionLogWriterLimits = ActionLogWriterLimits(),
        quotas: ActionLogQuotas = ActionLogQuotas(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(ServerStorageError) {
        let database = try ServerDatabase(
            at: file, ActionLogFile.schema, waitsForDrive: limits.survivesPowerLoss, hasReserve: true)
        self.database = database
        let gate = ActionLogGate(quotas)
        writer = GroupCommit(label: "runway.action-log", limits: limits.queue) { changes in
            let received = now().milliseconds
            let (results, room) = try database.write { connection in
                let free = try database.freeByteCount(connection, upTo: quotas.maximumByteCount)
                var room = gate.room(of: free, at: received)
                let results = try changes.map { change in
                    switch change {
                    case .batch(let batch):
                        return try Self.store(batch, in: connection, received: received, within: &room)
                    // All earlier batches are stored now, so the erasure finds them.
                    case .erasure: return .success(.known)
                    }
                }
                return (results, room)
            }
            room.didCommit()
            return results
        }
        eraser = GroupCommit(label: "runway.action-log.erasing", limits: limits.queue) { owners in
            for owner in owners {
                let (candidates, value) = owner.candidates
                try Self.removeContents(among: candidates, value, in: database)
            }
            return owners.map { _ in }
        }
    }

    /// Stores a batch, and returns when it is durable.
    ///
    /// - Throws: After an error, no record of the batch is stored.
    ///   - `StoreRefusal.busy` if too many batches are pending
    ///   - `StoreRefusal` if the batch exceeds a quota
    ///   - ``ServerStorageError`` if the file cannot be written
    ///   - `CancellationError` after ``close()``
    public func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage {
        try await commit(.batch(batch)).get()
    }

    /// Removes the contents of all records of an account. Their ids stay, so that a record that is sent again is not
    /// stored a second time. Batches can be stored at the same time.
    ///
    /// When the function returns, the removal is durable, and the file no longer contains the bytes, unless another
    /// process is reading the file. In this case, the bytes are overwritten when the file is opened again, or at the
    /// latest with the first batch that arrives 5 s after the reader has ended. If the function throws, part of the
    /// contents may be removed.
    ///
    /// - Parameter account: The account that clients claimed in their batches.
    /// - Throws: ``ServerStorageError``, `StoreRefusal.busy` or `CancellationError`, as ``store(_:)`` does.
    public func erase(account: String) async throws { try await erase(.account(account)) }

    /// Removes the contents of an installation's records without an account, by the rules of ``erase(account:)``.
    ///
    /// - Parameter installation: The installation id of the batches.
    /// - Throws: The errors of ``erase(account:)``.
    public func erase(anonymousRecordsOf installation: UUID) async throws {
        try await erase(.nobody(installation: installation))
    }

    private func erase(_ owner: ActionLogOwner) async throws {
        let change = ActionLogChange.erasure(owner)
        do {
            _ = try await commit(change)
        } catch is ServerStorageError {
            // If the transaction has failed, for example on a full disk, none of its batches is stored, but all earlier
            // ones are.
        }
        try await eraser.commit(owner, byteCount: change.byteCount)
    }

    private func commit(
        _ change: ActionLogChange
    ) async throws -> Result<ActionLogStorage, StoreRefusal> {
        try await writer.commit(change, byteCount: change.byteCount)
    }

    /// Removes the contents of records that were received before a date. Their ids stay, so that no record is stored
    /// again.
    ///
    /// The function blocks, but batches can be stored at the same time. See ``erase(account:)`` for the bytes of the
    /// contents while another process reads the file.
    ///
    /// - Throws: ``ServerStorageError``. Part of the contents may be removed.
    public func removeContents(receivedBefore date: Date) throws(ServerStorageError) {
        try Self.removeContents(
            among: "TRUE", where: "received < ?1 AND name IS NOT NULL", date.milliseconds, in: database)
    }

    /// Removes the contents of stored records. Each transaction examines 1,000 records, or fewer if their contents
    /// reach 1 MiB. Batches can thus be stored in between, the write-ahead log stays short, and the reserved space
    /// suffices on a full disk. The removed bytes are overwritten at the end; if no candidate is found, nothing is
    /// written.
    ///
    /// - Parameters:
    ///   - candidates: A condition in SQL for the records to examine, preferably one that an index supports.
    ///   - condition: Selects which of them to erase. The default is all.
    ///   - value: The parameter `?1` of both conditions.
    private static func removeContents(
        among candidates: String, where condition: String = "TRUE", _ value: any DatabaseValueConvertible,
        in database: ServerDatabase
    ) throws(ServerStorageError) {
        let end = try database.erase { try Int64.fetchOne($0, sql: "SELECT max(sequence) FROM record") }
        var next: Int64? = 0
        var isFound = false
        // Contents that were removed before an error must be overwritten, too.
        defer { if isFound { database.endErasure() } }
        while let start = next {
            next = try database.erase { database -> Int64? in
                let rows = try Row.fetchCursor(
                    database,
                    sql: """
                        SELECT sequence, installation, \(ActionLogFile.contentByteCount), \(condition) FROM record
                        WHERE \(candidates) AND sequence > ?2 AND sequence <= ?3 ORDER BY sequence LIMIT 1000
                        """,
                    arguments: [value, start, end])
                var (last, byteCount, removed) = (Int64?.none, 0, [Data: Int]())
                while byteCount < maximumErasedByteCount, let row = try rows.next() {
                    last = try row.value(0)
                    // A damaged row is also removed, but its size is not subtracted from the stored bytes of any
                    // installation.
                    guard Bool.fromDatabaseValue(row[3]) == true, let contents = Int.fromDatabaseValue(row[2]),
                        let installation = Data.fromDatabaseValue(row[1])
                    else { continue }
                    byteCount += contents
                    removed[installation, default: 0] += contents
                }
                guard let last else { return nil }
                try database.execute(
                    sql: """
                        UPDATE record SET account = NULL, name = NULL, json = NULL, checksum = NULL
                        WHERE \(candidates) AND \(condition) AND sequence > ?2 AND sequence <= ?3
                        """,
                    arguments: [value, start, last])
                let usage = try database.cachedStatement(
                    sql: "UPDATE usage SET bytes = max(0, bytes - ?2) WHERE installation = ?1")
                for (installation, byteCount) in removed { try usage.execute(arguments: [installation, byteCount]) }
                return last
            }
            isFound = isFound || next != nil
        }
    }

    /// The maximum size of the contents that one transaction of an erasure removes, in bytes. The last record may
    /// exceed it.
    private static let maximumErasedByteCount = 1 << 20

    /// Stores the pending batches, ends running erasures, and closes the file. Later batches are refused.
    ///
    /// - Throws: ``ServerStorageError``.
    public func close() async throws {
        await writer.close()
        await eraser.close()
        try database.close()
    }

    /// The size of the file's write-ahead log in bytes. SQLite checkpoints it at about 4 MiB; it grows while other
    /// processes read the file for long.
    public var logByteCount: Int { database.logByteCount }

    /// Limits the size of the file, so that a test can fill it.
    func limitPages(to count: Int) throws(ServerStorageError) {
        try database.write { _ = try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(count)") }
    }

    /// Stores a batch within a transaction.
    private static func store(
        _ batch: ActionLogBatch, in database: Database, received: Int64, within room: inout ActionLogRoom
    ) throws -> Result<ActionLogStorage, StoreRefusal> {
        let (installation, stream) = (batch.installation.data, batch.stream.data)
        guard let highest = try highest(of: batch, in: database) else {
            // The row with the highest batch number of the stream is damaged. The reported gap makes the client begin
            // another stream. The server still recognises its records by their ids.
            return .success(.gap(expected: batch.number == 1 ? 2 : 1))
        }
        if batch.number <= highest {
            // A client that was restored from a backup reuses batch numbers for other records.
            let known = try knownIDs(of: batch, in: database)
            let hasAll = batch.records.allSatisfy { known.contains($0.id) }
            return .success(hasAll ? .known : .gap(expected: highest + 1))
        }
        guard batch.number == highest + 1 else { return .success(.gap(expected: highest + 1)) }
        let stored = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT bytes FROM usage WHERE installation = ?"), arguments: [installation])
        // A damaged byte count is read as 0, so that no records are refused because of it.
        let usage = max(0, stored.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0)
        let refusal = try room.refusal(of: batch, installationByteCount: usage) {
            try knownIDs(of: batch, in: database)
        }
        if let refusal { return .failure(refusal) }
        let insertion = try database.cachedStatement(
            sql: """
                INSERT INTO record (id, installation, stream, batch, received, account, name, json, sent, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
                """)
        let sent = batch.sent?.milliseconds
        var duplicates: Set<UUID> = []
        var byteCount = batch.streamByteCount
        for record in batch.records {
            try insertion.execute(arguments: [
                record.id.data, installation, stream, batch.number, received, batch.account, record.name,
                Data(record.json), sent,
                RowChecksum.of(
                    record, installation: batch.installation, stream: batch.stream, number: batch.number,
                    received: received, account: batch.account, sent: sent),
            ])
            if database.changesCount == 0 {
                duplicates.insert(record.id)
            } else {
                byteCount += batch.byteCount(of: record)
            }
        }
        room.add(byteCount, of: batch)
        try database.cachedStatement(sql: "REPLACE INTO usage VALUES (?, ?)").execute(
            arguments: [installation, usage + byteCount])
        try database.cachedStatement(
            sql: """
                INSERT INTO stream VALUES (?, ?, ?, ?)
                ON CONFLICT (installation, id) DO UPDATE SET highest = excluded.highest, checksum = excluded.checksum
                """
        ).execute(arguments: [
            installation, stream, batch.number,
            RowChecksum.of(highest: batch.number, installation: batch.installation, stream: batch.stream).value,
        ])
        return .success(.stored(duplicates: duplicates))
    }

    private static func knownIDs(of batch: ActionLogBatch, in database: Database) throws -> Set<UUID> {
        let search = try database.cachedStatement(sql: "SELECT 1 FROM record WHERE id = ?")
        return Set(try batch.records.map(\.id).filter { try Bool.fetchOne(search, arguments: [$0.data]) != nil })
    }

    /// Returns the highest stored batch number of the stream to which a batch belongs; 0 if the stream has no row,
    /// `nil` if the row is damaged.
    private static func highest(of batch: ActionLogBatch, in database: Database) throws -> Int64? {
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT highest, checksum FROM stream WHERE installation = ? AND id = ?"),
            arguments: [batch.installation.data, batch.stream.data])
        guard let row else { return 0 }
        let checksum: DatabaseValue = row[1]
        guard let highest = Int64.fromDatabaseValue(row[0]), (0..<Int64.max).contains(highest) else { return nil }
        let sum = RowChecksum.of(highest: highest, installation: batch.installation, stream: batch.stream).value
        return checksum.isNull || Int64.fromDatabaseValue(checksum) == sum ? highest : nil
    }
}

extension ActionLogOwner {
    /// The SQL condition that selects the owner's records by an index, and the value of its parameter `?1`.
    var candidates: (condition: String, value: any DatabaseValueConvertible) {
        switch self {
        case .account(let account): ("account = ?1", account)
        case .nobody(let installation):
            ("installation = ?1 AND account IS NULL AND name IS NOT NULL", installation.data)
        }
    }
}
