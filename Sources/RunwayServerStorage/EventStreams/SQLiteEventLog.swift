public import Foundation
import GRDB
import RunwayFormats
import RunwaySQLite
public import RunwayServer

/// Stores the last events in a SQLite file, so that event ids stay valid when the server restarts.
///
/// A published event is on the drive: it survives `kill -9` and a power loss. Bytes of removed events are overwritten.
/// Only one process can use the file; a second one gets ``ServerStorageError/Kind/locked``.
///
/// A file that cannot be read is renamed with the extension `.damaged`, and a new file begins a new epoch: clients
/// receive a reset. A damaged event is skipped, and clients are notified of the gap.
public final class SQLiteEventLog: EventLog {
    let database: DatabaseQueue
    private let lock: WriterLock
    /// The maximum offset. No log reaches it: a greater number is damaged, and could overflow.
    private static let maximumNumber = Int64(1) << 53

    private let maximumCount: Int
    private let maximumByteCount: Int
    private let epoch: String

    /// Opens the file, or creates it.
    ///
    /// - Parameters:
    ///   - file: The file, in an existing folder.
    ///   - maximumCount: The maximum number of events, at least 1. The default is 100,000.
    ///   - maximumByteCount: The maximum size of the used part of the file in bytes. Beyond it, the oldest events are
    ///     removed, but never the last one. The default is 1 GiB.
    /// - Throws: ``ServerStorageError`` if another process uses the file; the error of SQLite if the file can be
    ///   neither opened nor replaced.
    public convenience init(file: URL, maximumCount: Int = 100_000, maximumByteCount: Int = 1 << 30) throws {
        try self.init(file: file, maximumCount: maximumCount, maximumByteCount: maximumByteCount) { _ in }
    }

    /// - Parameter prepare: Prepares a connection. Tests set limits with it.
    init(
        file: URL, maximumCount: Int, maximumByteCount: Int = 1 << 30,
        prepare: @escaping @Sendable (Database) throws -> Void
    ) throws {
        self.maximumCount = max(1, maximumCount)
        self.maximumByteCount = maximumByteCount
        lock = try WriterLock(for: file)
        do {
            (database, epoch) = try Self.open(file, prepare)
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
            for ending in ["", "-wal", "-shm"] {
                let damaged = file.path + ".damaged" + ending
                try? FileManager.default.removeItem(atPath: damaged)
                try? FileManager.default.moveItem(atPath: file.path + ending, toPath: damaged)
            }
            (database, epoch) = try Self.open(file, prepare)
        }
    }

    private static func open(
        _ file: URL, _ prepare: @escaping @Sendable (Database) throws -> Void
    ) throws -> (DatabaseQueue, String) {
        let queue = try SQLiteFile.open(
            at: file, waitsForDrive: true, overwritesRemovedBytes: true, busyTimeout: 5, prepare: prepare)
        let epoch = try queue.write { database in
            // AUTOINCREMENT ensures that the offset of a removed event is never reused.
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS event
                        (number INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL);
                    CREATE TABLE IF NOT EXISTS log (epoch TEXT NOT NULL);
                    """)
            if let epoch = try String.fetchOne(database, sql: "SELECT epoch FROM log") {
                guard EventID.isEpoch(epoch) else { throw damage }
                // Fails if the rows that describe the log are damaged; the file is then renamed.
                _ = try range(database, epoch)
                return epoch
            }
            let epoch = EventLogRange.newEpoch()
            try database.execute(sql: "INSERT INTO log VALUES (?)", arguments: [epoch])
            return epoch
        }
        return (queue, epoch)
    }

    /// Begins a new epoch in a file that was restored from a backup: clients then receive a reset. Otherwise, they
    /// would miss events that are published under the offsets of lost events. Blocks.
    ///
    /// Call the function once after the restore, before the file is opened.
    ///
    /// - Returns: The new epoch.
    /// - Throws: ``ServerStorageError``: ``ServerStorageError/Kind/missing`` if the file does not exist,
    ///   ``ServerStorageError/Kind/foreign`` for a file with other contents, ``ServerStorageError/Kind/locked`` if a
    ///   server uses it.
    @discardableResult
    public static func beginEpoch(at file: URL) throws(ServerStorageError) -> String {
        try ServerStorageError.checkExists(file)
        do {
            let lock = try WriterLock(for: file)
            defer { lock.release() }
            let queue = try SQLiteFile.open(at: file, waitsForDrive: true, overwritesRemovedBytes: true, busyTimeout: 5)
            let epoch = EventLogRange.newEpoch()
            try queue.write { database in
                guard try database.tableExists("event"), try database.tableExists("log") else {
                    throw ServerStorageError(.foreign, "\(file.lastPathComponent) is a database with other contents.")
                }
                try database.execute(sql: "UPDATE log SET epoch = ?", arguments: [epoch])
            }
            try queue.close()
            return epoch
        } catch {
            throw ServerStorageError(error, at: file)
        }
    }

    deinit { try? close() }

    /// Closes the file, so that another log can open it. Do not call other functions afterwards.
    ///
    /// - Throws: The error of SQLite.
    public func close() throws {
        try database.close()
        lock.release()
    }

    /// Returns the epoch of the log, and its first and last offset.
    public func range() async throws -> EventLogRange {
        try await database.read { [epoch] database in try Self.range(database, epoch) }
    }

    /// Stores events with the next offsets, in one transaction.
    public func append(_ events: [PublishedEvent]) async throws -> EventLogRange {
        try await write { [epoch, maximumCount, maximumByteCount] database in
            let insert = try database.cachedStatement(sql: "INSERT INTO event (topic, type, data) VALUES (?, ?, ?)")
            for event in events { try insert.execute(arguments: [event.topic, event.type, event.data]) }
            var range = try Self.range(database, epoch)
            if range.last - range.first >= Int64(maximumCount + maximumCount / 10) {
                try Self.remove(upTo: range.last - Int64(maximumCount), database)
                range = try Self.range(database, epoch)
            }
            // Removes a tenth of the events at a time, since events differ in size.
            while range.first < range.last, try Self.usedByteCount(database) > maximumByteCount {
                try Self.remove(upTo: range.first + (range.last - range.first) / 10, database)
                range = try Self.range(database, epoch)
            }
            return range
        }
    }

    private static func remove(upTo number: Int64, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM event WHERE number <= ?", arguments: [number])
    }

    /// Returns the size of the used pages in bytes. SQLite reuses the pages of removed events.
    private static func usedByteCount(_ database: Database) throws -> Int {
        func value(_ pragma: String) throws -> Int { try Int.fetchOne(database, sql: "PRAGMA \(pragma)") ?? 0 }
        return try (value("page_count") - value("freelist_count")) * value("page_size")
    }

    /// Runs a transaction as `writeMakingRoom` does, without blocking the caller's thread.
    func write<Value: Sendable>(_ change: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await database.write(change)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            let moved: Void? = try? await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            guard moved != nil else { throw error }
            return try await database.write(change)
        }
    }

    /// Returns the events after an offset, up to the next damaged event. If the first events after the offset are
    /// damaged, the page begins after them.
    ///
    /// - Throws: Errors of SQLite, except errors for damaged rows.
    public func events(
        after offset: Int64, upTo maximumCount: Int
    ) async throws -> (first: Int64, events: [PublishedEvent]) {
        try await database.read { database in
            let end = try Self.range(database, "").last
            do {
                var place = offset
                while place < end {
                    let page = try Self.page(database, after: place, through: end, upTo: maximumCount)
                    if !page.events.isEmpty { return (page.first, page.events) }
                    // No intact rows were found in this part.
                    place = page.last
                }
                return (max(offset, end) + 1, [])
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                // The page skips all events, since SQLite does not report where the damage ends.
                return (max(offset, end) + 1, [])
            }
        }
    }

    /// Returns the first intact events among some rows.
    ///
    /// - Returns: The events, the offset of the first event, and the offset of the last row, or `end` if no row exists.
    private static func page(
        _ database: Database, after offset: Int64, through end: Int64, upTo maximumCount: Int
    ) throws -> (first: Int64, events: [PublishedEvent], last: Int64) {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT number, topic, type, data FROM event WHERE number > ? AND number <= ? ORDER BY number LIMIT ?",
            arguments: [offset, end, max(1, maximumCount)])
        var (first, events, last) = (offset + 1, [PublishedEvent](), end)
        var byteCount = 0
        do {
            while byteCount < EventHub.maximumReadByteCount, let row = try rows.next() {
                guard let number = Int64.fromDatabaseValue(row[0]) else { throw damage }
                if let event = event(row), events.isEmpty || number == first + Int64(events.count) {
                    if events.isEmpty { first = number }
                    events.append(event)
                    byteCount += event.data.utf8.count
                } else if !events.isEmpty {
                    break
                }
                last = number
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT && !events.isEmpty {
            return (first, events, last)
        }
        return (first, events, last)
    }

    /// Reads a row. Returns `nil` if it is damaged. The subscript of `Row` traps for a value of another type, which a
    /// damaged file may contain.
    private static func event(_ row: Row) -> PublishedEvent? {
        guard let topic = String.fromDatabaseValue(row[1]), let type = String.fromDatabaseValue(row[2]),
            let data = String.fromDatabaseValue(row[3])
        else { return nil }
        return PublishedEvent(topic: topic, type: type, data: data)
    }

    private static var damage: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "The log has values that were not written.")
    }

    private static func range(_ database: Database, _ epoch: String) throws -> EventLogRange {
        let last = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
        guard (0..<maximumNumber).contains(last) else { throw damage }
        let first = try Int64.fetchOne(database, sql: "SELECT MIN(number) FROM event") ?? last + 1
        guard (1...last + 1).contains(first) else { throw damage }
        return EventLogRange(epoch: epoch, first: first, last: last)
    }
}
