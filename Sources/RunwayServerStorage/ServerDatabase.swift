import Foundation
import GRDB
import RunwaySQLite
import Synchronization

/// A SQLite file that only one process writes, and others may read.
///
/// All writes and checkpoints use one connection: before SQLite 3.51.3, two connections that write or checkpoint at the
/// same time can lose a commit. A lock on a file beside the database keeps other writers out; the system releases it
/// when the process ends in any way.
final class ServerDatabase: Sendable {
    /// The contents of a file.
    struct Schema: Sendable {
        /// Identifies files of this kind, in SQLite's header.
        var applicationID: Int
        /// The statements that create the tables of version 1.
        var tables: String
        /// The statements that convert the tables of one version to the next, for each later version.
        var migrations: [String] = []

        /// The version that the code reads and writes.
        var version: Int { migrations.count + 1 }
    }

    let url: URL
    private let queue: DatabaseQueue
    private let lock: WriterLock
    /// Disk space that is reserved for erasures on a full disk; `nil` for a file without a reserve.
    private let reserve: SpaceReserve?
    /// Guards the times at which the write-ahead log is moved after readers have delayed that.
    private let bound: Mutex<LogBound>
    /// The shortest time between two attempts to move the log that readers prevent: each attempt waits for the drive.
    private let overwriteInterval: Duration
    /// Guards the time of the next attempt to overwrite removed bytes in the write-ahead log or the file; `nil` if
    /// there are none. Held while the log is being moved, too.
    let overwriteTime = Mutex<ContinuousClock.Instant?>(nil)

    /// Opens a file, or creates it so that only its user can read it.
    ///
    /// - Parameters:
    ///   - waitsForDrive: Whether a commit waits until its data are on the drive.
    ///   - hasReserve: Whether disk space is reserved for erasures on a full disk. The default is `false`.
    /// - Throws: ``ServerStorageError``. A damaged file is not replaced: its knowledge of clients would be lost, and
    ///   duplicates would be stored.
    init(
        at url: URL, _ schema: Schema, waitsForDrive: Bool, hasReserve: Bool = false, bound: LogBound = LogBound(),
        busyTimeout: TimeInterval = 5, overwriteInterval: Duration = .seconds(5)
    ) throws(ServerStorageError) {
        self.url = url
        reserve = hasReserve ? SpaceReserve(for: url) : nil
        self.overwriteInterval = overwriteInterval
        self.bound = Mutex(bound)
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            lock = try WriterLock(for: url)
            func open() throws -> DatabaseQueue {
                // A reader may hold a lock for a moment while the file is opened, or while the log is moved.
                let queue = try SQLiteFile.open(
                    at: url, waitsForDrive: waitsForDrive, overwritesRemovedBytes: true, busyTimeout: busyTimeout)
                try queue.write { try Self.prepare($0, schema, url) }
                return queue
            }
            do {
                queue = try open()
            } catch  where ServerStorageError(error, at: url).kind == .full && reserve?.release() == true {
                // Opening writes a few pages. Without the reserve nothing could be erased.
                queue = try open()
            }
        } catch {
            throw ServerStorageError(error, at: url)
        }
        // The last process may have ended before it could move the log.
        overwriteRemovedBytes()
        reserve?.make(leaving: SpaceReserve.byteCount)
    }

    private static func prepare(_ database: Database, _ schema: Schema, _ url: URL) throws {
        if try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0 {
            try database.execute(sql: schema.tables)
            try database.execute(sql: "PRAGMA application_id = \(schema.applicationID); PRAGMA user_version = 1")
        }
        let version = max(1, try check(database, schema, url))
        for migration in schema.migrations.dropFirst(version - 1) { try database.execute(sql: migration) }
        if version < schema.version { try database.execute(sql: "PRAGMA user_version = \(schema.version)") }
    }

    /// Checks the kind and the version of a file, and returns its version.
    @discardableResult
    private static func check(_ database: Database, _ schema: Schema, _ url: URL) throws -> Int {
        guard try Int.fetchOne(database, sql: "PRAGMA application_id") == schema.applicationID else {
            throw ServerStorageError(.foreign, "\(url.lastPathComponent) is a database with other contents.")
        }
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version <= schema.version else {
            throw ServerStorageError(.newerSchema, "\(url.lastPathComponent) was written by a later version.")
        }
        return version
    }

    /// Runs one transaction. Blocks. If the disk is full, `change` may run twice.
    func write<Value>(_ change: (Database) throws -> Value) throws(ServerStorageError) -> Value {
        let value: Value
        do { value = try queue.writeMakingRoom(change) } catch { throw ServerStorageError(error, at: url) }
        let isOverwriteDue = overwriteTime.withLock { time in time.map { ContinuousClock.now >= $0 } ?? false }
        if isOverwriteDue { overwriteRemovedBytes() }
        boundLog()
        return value
    }

    /// Runs one transaction of an erasure, which may use the reserve if the disk is full. Blocks.
    func erase<Value>(_ change: (Database) throws -> Value) throws(ServerStorageError) -> Value {
        do throws(ServerStorageError) {
            return try write(change)
        } catch {
            guard error.kind == .full, reserve?.release() == true else { throw error }
            return try write(change)
        }
    }

    /// Overwrites the bytes that transactions of an erasure have removed, and creates the reserve again if the disk has
    /// space for it.
    func endErasure() {
        overwriteRemovedBytes()
        reserve?.make()
    }

    /// Returns how many more bytes the file may use: at most `maximumByteCount` in all, and no more than the disk has
    /// free beyond the reserve and the write-ahead log.
    func freeByteCount(_ database: Database, upTo maximumByteCount: Int) throws -> Int {
        func value(_ pragma: String) throws -> Int { try Int.fetchOne(database, sql: "PRAGMA \(pragma)") ?? 0 }
        let (size, count, unused) = (try value("page_size"), try value("page_count"), try value("freelist_count"))
        let disk = try? FileManager.default.attributesOfFileSystem(forPath: url.deletingLastPathComponent().path)
        let logByteCount = SQLiteFile.checkpointPageCount * size
        var needed = max(0, logByteCount - self.logByteCount)
        if let reserve, !reserve.isMade { needed += SpaceReserve.byteCount }
        let room =
            (disk?[.systemFreeSize] as? NSNumber).map {
                Int(clamping: $0.int64Value) - needed + unused * size
            } ?? .max
        return max(0, min(maximumByteCount - (count - unused) * size, room))
    }

    /// Moves a write-ahead log that has grown because there was always a process that read it. SQLite moves only the
    /// part that the oldest reader has seen; this function waits for readers, and lets new readers wait for it.
    private func boundLog() {
        let count = logByteCount
        guard bound.withLock({ $0.isExceeded(by: count) }) else { return }
        let isMoved = overwriteTime.withLock { time in
            let isMoved = (try? queue.moveLog()) != nil
            if isMoved { time = nil }
            return isMoved
        }
        bound.withLock { $0.didMove(isMoved) }
    }

    /// The size of the write-ahead log in bytes.
    var logByteCount: Int { SQLiteFile.logByteCount(of: url) }

    /// Moves all commits to the database file, so that removed bytes remain neither there nor in SQLite's log. It does
    /// not wait for processes that read the file: while one does, later transactions try again, at most every 5 s.
    func overwriteRemovedBytes() {
        overwriteTime.withLock { time in
            let isMoved = (try? queue.moveLogWithoutWaiting()) != nil
            time = isMoved ? nil : ContinuousClock.now + overwriteInterval
        }
    }

    /// Closes the file and releases its lock. No other function may be called afterwards.
    func close() throws(ServerStorageError) {
        do {
            try queue.close()
            lock.release()
        } catch {
            throw ServerStorageError(error, at: url)
        }
    }

    /// Reads a file, even while a server writes it.
    static func read<Value>(
        _ url: URL, _ schema: Schema, _ read: (Database, _ version: Int) throws -> Value
    ) throws(ServerStorageError) -> Value {
        try ServerStorageError.checkExists(url)
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: url.path, configuration: configuration)
            return try queue.read { database in
                try read(database, try check(database, schema, url))
            }
        } catch {
            throw ServerStorageError(error, at: url)
        }
    }
}

/// The lock of the only process that writes a file.
final class WriterLock: Sendable {
    /// Guards the descriptor of the locked file; `nil` once it is released.
    private let descriptor: Mutex<Int32?>

    /// Locks the file beside a database file. A symbolic link in its place is not followed.
    init(for url: URL) throws(ServerStorageError) {
        let descriptor = open(url.path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw ServerStorageError(.unavailable, "The folder of \(url.lastPathComponent) can't be written.")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Foundation.close(descriptor)
            throw ServerStorageError(.locked, "Another server writes \(url.lastPathComponent).")
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            // A process that was just forked still has the file open: closing the descriptor here would not release the
            // lock.
            flock(open, LOCK_UN)
            Foundation.close(open)
            descriptor = nil
        }
    }
}

extension UUID {
    /// The 16 bytes of the UUID, in the order in which they are written.
    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    /// Reads the 16 bytes of a UUID from a column.
    init(_ row: Row, _ column: Int) throws { self = try row.value(column) }
}
