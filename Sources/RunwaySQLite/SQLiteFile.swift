package import Foundation
package import GRDB

#if !Storage
    #error("RunwaySQLite needs the package trait Storage.")
#endif

/// Opens the SQLite files of clients and servers.
///
/// Each process uses one connection for all reads, writes and checkpoints. Before SQLite 3.51.3, two connections that
/// write or checkpoint at the same time can lose a commit. `docs/decisions/0081-size-of-the-log.md` explains the limits
/// of the write-ahead log.
package enum SQLiteFile {
    /// The number of pages at which SQLite moves the write-ahead log to the database file, and reuses the log.
    package static let checkpointPageCount = 1000
    /// The size to which SQLite truncates a larger write-ahead log when it reuses the log.
    package static let maximumIdleLogByteCount = 4 << 20
    /// The number of free pages above which an empty database file is shrunk: 256 pages of 4 KiB, or 1 MiB.
    package static let maximumIdlePageCount = 256

    /// Opens a database in write-ahead-log mode. Creates it if it does not exist, readable only by its user.
    ///
    /// - Parameters:
    ///   - url: The file, in an existing folder.
    ///   - waitsForDrive: Whether a commit waits for the drive. Otherwise a power loss may undo the last commits.
    ///   - overwritesRemovedBytes: Whether SQLite overwrites removed bytes, regardless of the default of its build. The
    ///     default is `false`.
    ///   - busyTimeout: The seconds to wait for locks of other processes. The default, `nil`, does not wait.
    ///   - observesSuspension: Whether a suspension of the app interrupts transactions (GRDB). The default is `false`.
    ///   - inspect: Reads an existing file, and throws an error for one that must not change. The default accepts all.
    ///   - prepare: Prepares the connection.
    /// - Throws: A `DatabaseError`, the error of `inspect`, or a Foundation error if the file can't be created.
    package static func open(
        at url: URL, waitsForDrive: Bool, overwritesRemovedBytes: Bool = false, busyTimeout: TimeInterval? = nil,
        observesSuspension: Bool = false, inspect: @escaping @Sendable (Database) throws -> Void = { _ in },
        prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        if let busyTimeout { configuration.busyMode = .timeout(busyTimeout) }
        configuration.observesSuspensionNotifications = observesSuspension
        configuration.prepareDatabase { database in
            try inspect(database)
            // An existing file may belong to another user who lets the user of this process write it.
            for ending in ["", "-wal", "-shm"] { try? makePrivate(url.path + ending) }
            try useWriteAheadLog(database, busyTimeout: busyTimeout ?? 0)
            // On Apple's systems, `fsync` leaves the bytes in the drive's cache, which may write them out of order. The
            // last two pragmas make SQLite use F_FULLFSYNC there, and have no effect elsewhere.
            try database.execute(
                sql: """
                    PRAGMA synchronous = \(waitsForDrive ? "FULL" : "NORMAL");
                    PRAGMA wal_autocheckpoint = \(checkpointPageCount);
                    PRAGMA journal_size_limit = \(maximumIdleLogByteCount);
                    PRAGMA secure_delete = \(overwritesRemovedBytes ? "ON" : "OFF");
                    PRAGMA checkpoint_fullfsync = 1; PRAGMA fullfsync = \(waitsForDrive ? 1 : 0)
                    """)
            try prepare(database)
        }
        // SQLite treats an empty file as a new database, and creates its other files with the same permissions. An
        // existing file is not opened here, since closing it would release this process's locks on it.
        if (try? Data().write(to: url, options: .withoutOverwriting)) != nil { try makePrivate(url.path) }
        return try DatabaseQueue(path: url.path, configuration: configuration)
    }

    private static func makePrivate(_ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// Switches a file to write-ahead-log mode. SQLite itself does not wait here for another process that writes: it
    /// reports `SQLITE_BUSY` to a reader that becomes a writer.
    private static func useWriteAheadLog(_ database: Database, busyTimeout: TimeInterval) throws {
        let end = ContinuousClock.now + .seconds(busyTimeout)
        while true {
            do {
                return try database.execute(sql: "PRAGMA journal_mode = WAL")
            } catch DatabaseError.SQLITE_BUSY where ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.005)
            }
        }
    }

    /// Returns the size of the write-ahead log in bytes. The log contains the commits that SQLite has not moved to the
    /// database file yet.
    package static func logByteCount(of url: URL) -> Int { byteCount(at: url.path + "-wal") }

    /// Returns the size of a file in bytes, or 0 if it does not exist.
    package static func byteCount(at path: String) -> Int {
        // A `URL` caches resource values, so the size is read through a new one. The system's `stat` is faster, but an
        // app would have to state in a privacy manifest why it is called.
        (try? URL(fileURLWithPath: path).resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0
    }
}

extension DatabaseQueue {
    /// Runs a transaction. If the disk is full, moves the write-ahead log to the database file, and runs the
    /// transaction once more.
    ///
    /// On a small disk, the log can use up all space before SQLite moves it, and then also space that is freed later.
    package func writeMakingRoom<Value>(_ change: (Database) throws -> Value) throws -> Value {
        do {
            return try write(change)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            guard (try? moveLog()) != nil else { throw error }
            return try write(change)
        }
    }

    /// Moves all commits to the database file, and empties the write-ahead log.
    ///
    /// - Throws: `SQLITE_BUSY` if another process reads for longer than the timeout, or another `DatabaseError`.
    package func moveLog() throws { try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }

    /// Moves all commits like ``moveLog()``, but waits only briefly for other processes that read the file.
    ///
    /// - Parameter milliseconds: The longest wait. Reads that begin meanwhile do not prolong it.
    /// - Throws: `SQLITE_BUSY` if another process reads for longer: then only the commits that precede its read
    ///   position were moved. Another `DatabaseError` for any other failure.
    package func moveLog(waitingAtMost milliseconds: Int) throws {
        try writeWithoutTransaction { database in
            let timeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = \(milliseconds)")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(timeout)") }
            _ = try database.checkpoint(.truncate)
        }
    }

    /// Shrinks a database file if its table is empty and more than ``SQLiteFile/maximumIdlePageCount`` pages are free.
    ///
    /// Call this function after ``moveLog()``. By then, removed bytes are overwritten, so the space that the file
    /// system receives does not contain them. A file with rows is not shrunk: shrinking moves rows, and would leave
    /// copies in the freed space. If the function fails, the file has its previous size.
    package func shrink(ifEmpty table: String) {
        try? writeWithoutTransaction { database in
            let isEmpty = try Bool.fetchOne(database, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(table))") ?? false
            let freeCount = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            guard isEmpty, freeCount > SQLiteFile.maximumIdlePageCount else { return }
            try database.execute(sql: "VACUUM")
            _ = try database.checkpoint(.truncate)
        }
    }
}

/// Decides when to move a write-ahead log that SQLite can't move by itself, because other processes read it
/// continuously. A pure state machine.
package struct LogBound: Sendable {
    /// The size at which the log is moved, in bytes. A log that no process reads continuously grows to about a quarter
    /// of this size.
    package static let standardByteCount = 16 << 20

    private let byteCount: Int
    private var nextByteCount: Int

    package init(byteCount: Int = standardByteCount) {
        self.byteCount = byteCount
        nextByteCount = byteCount
    }

    package func isExceeded(by count: Int) -> Bool { count > nextByteCount }

    /// Records the result of an attempt to move the log. Writers wait during an attempt, so a failed attempt is
    /// repeated only when the log has doubled in size.
    package mutating func didMove(_ isMoved: Bool) {
        nextByteCount = isMoved ? byteCount : nextByteCount > .max / 2 ? .max : nextByteCount * 2
    }
}
