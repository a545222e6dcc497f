import Foundation
import GRDB
import RunwaySQLite
import Synchronization

/// A SQLite file that only one process writes. Other processes may read it.
///
/// All writes and checkpoints use one connection: before SQLite 3.51.3, two connections that write or checkpoint at the
/// same time can lose a commit. A lock on a file beside the database excludes other writers; the system releases it
/// when the process ends in any way.
final class ServerDatabase: Sendable {
    /// The tables and the version of a file.
    struct Schema: Sendable {
        /// The application id in SQLite's header, which identifies files of this kind.
        var applicationID: Int
        /// The statements that create the tables of version 1.
        var tables: String
        /// For each later version, the statements that convert the tables from the previous version.
        var migrations: [String] = []

        /// The version that this code reads and writes.
        var version: Int { migrations.count + 1 }
    }

    let url: URL
    private let queue: DatabaseQueue
    private let lock: WriterLock
    /// Disk space reserved for erasures on a full disk; `nil` for a file without a reserve.
    private let reserve: SpaceReserve?
    /// Guards the times of forced checkpoints, which are needed when readers have delayed checkpoints.
    private let bound: Mutex<LogBound>
    /// The minimum time between two attempts at a checkpoint that readers prevent. Each attempt waits for the drive.
    private let overwriteInterval: Duration
    /// Guards the time of the next attempt to overwrite removed bytes in the write-ahead log or the file; `nil` if no
    /// bytes are to be overwritten. The lock is also held during checkpoints.
    let overwriteTime = Mutex<ContinuousClock.Instant?>(nil)

    /// Opens a file, or creates it so that only its user can read it.
    ///
    /// - Parameters:
    ///   - waitsForDrive: Whether a commit waits until its data are on the drive.
    ///   - hasReserve: Whether disk space is reserved for erasures on a full disk. The default is `false`.
    /// - Throws: ``ServerStorageError``. A damaged file is not replaced: without it, the server would not recognise
    ///   duplicates.
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
                // Retries, since a reader may briefly hold a lock while the file is opened or checkpointed.
                let queue = try SQLiteFile.open(
                    at: url, waitsForDrive: waitsForDrive, overwritesRemovedBytes: true, busyTimeout: busyTimeout)
                try queue.write { try Self.prepare($0, schema, url) }
                return queue
            }
            do {
                queue = try open()
            } catch  where ServerStorageError(error, at: url).kind == .full && reserve?.release() == true {
                // On a full disk, the reserve is released, since opening writes a few pages and an erasure must stay
                // possible.
                queue = try open()
            }
        } catch {
            throw ServerStorageError(error, at: url)
        }
        // The previous process may have ended before it overwrote removed bytes.
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

    /// Checks the kind and version of a file, and returns the version.
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

    /// Runs one transaction of an erasure, which may use the reserve on a full disk. Blocks.
    func erase<Value>(_ change: (Database) throws -> Value) throws(ServerStorageError) -> Value {
        do throws(ServerStorageError) {
            return try write(change)
        } catch {
            guard error.kind == .full, reserve?.release() == true else { throw error }
            return try write(change)
        }
    }

    /// Overwrites the bytes that an erasure has removed, and recreates the reserve if the disk has space for it.
    func endErasure() {
        overwriteRemovedBytes()
        reserve?.make()
    }

    /// Returns the number of bytes by which the file may grow: up to `maximumByteCount` in total, and within the disk's
    /// free space without the reserve and the write-ahead log.
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

    /// Checkpoints a write-ahead log that has grown because some process was always reading it. A normal checkpoint
    /// moves only the part that the oldest reader has seen. This checkpoint waits for readers, and makes new readers
    /// wait.
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

    var logByteCount: Int { SQLiteFile.logByteCount(of: url) }

    /// Checkpoints all commits, so that removed bytes remain neither in the file nor in the write-ahead log. It does
    /// not wait for processes that read the file: while a process reads, later transactions retry, at most every 5 s.
    func overwriteRemovedBytes() {
        overwriteTime.withLock { time in
            let isMoved = (try? queue.moveLog(waitingAtMost: 0)) != nil
            time = isMoved ? nil : ContinuousClock.now + overwriteInterval
        }
    }

    /// Closes the file and releases its lock. Do not call other functions afterwards.
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

/// The lock of the only process that may write a file.
final class WriterLock: Sendable {
    /// Guards the descriptor of the locked file; `nil` after the release.
    private let descriptor: Mutex<Int32?>

    /// Locks the file beside a database file. A symbolic link is not followed.
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
            // Unlocks explicitly, since a forked child may still have the file open, and closing the descriptor here
            // would not release the lock.
            flock(open, LOCK_UN)
            Foundation.close(open)
            descriptor = nil
        }
    }
}

extension UUID {
    /// The 16 bytes of the UUID in their written order.
    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    init(_ row: Row, _ column: Int) throws { self = try row.value(column) }
}
