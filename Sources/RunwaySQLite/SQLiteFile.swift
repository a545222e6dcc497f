package import Foundation
package import GRDB

#if !Storage
    #error("RunwaySQLite needs the package trait Storage.")
#endif

/// Opens the SQLite files of clients and servers.
///
/// All reads, writes and checkpoints of a process use one connection: before SQLite 3.51.3, two connections that write
/// or checkpoint at the same time can lose a commit. The limits of the write-ahead log are stated only here, see
/// `docs/decisions/0081-size-of-the-log.md`.
package enum SQLiteFile {
    /// After the commit that makes the write-ahead log so long, SQLite moves it to the database file, and writes it
    /// from its beginning again.
    package static let checkpointPageCount = 1000
    /// The size to which the log is truncated when it is written from its beginning, for instance after a large
    /// transaction.
    package static let maximumIdleLogByteCount = 4 << 20
    /// An empty database file is shrunk if more pages than this are free: 256 pages of 4 KiB, 1 MiB.
    package static let maximumIdlePageCount = 256

    /// Opens a database in write-ahead-log mode, or creates it so that only its user can read it.
    ///
    /// - Parameters:
    ///   - url: The file, in a folder that exists.
    ///   - waitsForDrive: Whether a commit returns when it is on the drive. Otherwise a power loss may undo the last
    ///     commits.
    ///   - overwritesRemovedBytes: Whether bytes are overwritten when they are removed, whatever SQLite was compiled to
    ///     do. The default is `false`.
    ///   - busyTimeout: The seconds to wait for locks of other processes. The default, `nil`, does not wait.
    ///   - observesSuspension: Whether GRDB's notification before the app is suspended interrupts transactions. The
    ///     default is `false`.
    ///   - prepare: Prepares the connection.
    /// - Throws: A `DatabaseError`, or a Foundation error if the file can't be created.
    package static func open(
        at url: URL, waitsForDrive: Bool, overwritesRemovedBytes: Bool = false, busyTimeout: TimeInterval? = nil,
        observesSuspension: Bool = false,
        prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        if let busyTimeout { configuration.busyMode = .timeout(busyTimeout) }
        configuration.observesSuspensionNotifications = observesSuspension
        configuration.prepareDatabase { database in
            // On Apple's systems `fsync` leaves the bytes in the drive's own memory, which then loses them out of order. The last two have
            // SQLite use F_FULLFSYNC there, and change nothing elsewhere.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = \(waitsForDrive ? "FULL" : "NORMAL");
                    PRAGMA wal_autocheckpoint = \(checkpointPageCount);
                    PRAGMA journal_size_limit = \(maximumIdleLogByteCount);
                    PRAGMA secure_delete = \(overwritesRemovedBytes ? "ON" : "OFF");
                    PRAGMA checkpoint_fullfsync = 1; PRAGMA fullfsync = \(waitsForDrive ? 1 : 0)
                    """)
            try prepare(database)
        }
        // SQLite takes an empty file for a new database, and creates the other files with the permissions of this one. A file that exists
        // is not opened: closing it would release the locks that this process has on it.
        let isNew = (try? Data().write(to: url, options: .withoutOverwriting)) != nil
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        } catch {
            // An old file may belong to another user, who has allowed this one to write it.
            if isNew { throw error }
        }
        return try DatabaseQueue(path: url.path, configuration: configuration)
    }

    /// Returns the bytes of the write-ahead log, which holds the commits that SQLite has not moved to the database file
    /// yet.
    package static func logByteCount(of url: URL) -> Int { byteCount(at: url.path + "-wal") }

    /// Returns the size of a file in bytes; 0 if it does not exist.
    package static func byteCount(at path: String) -> Int {
        // A new URL, since a URL remembers the values that it has read.
        (try? URL(fileURLWithPath: path).resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0
    }
}

extension DatabaseQueue {
    /// Runs a transaction. If the disk is full, moves the write-ahead log to the database file, and runs the
    /// transaction once more.
    ///
    /// On a small disk the log takes all space before SQLite itself moves it, and also the space that is freed later.
    package func writeMakingRoom<Value>(_ change: (Database) throws -> Value) throws -> Value {
        do {
            return try write(change)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            guard (try? moveLog()) != nil else { throw error }
            return try write(change)
        }
    }

    /// Moves all that was committed to the database file, and empties the write-ahead log.
    ///
    /// - Throws: `SQLITE_BUSY` if another process reads for longer than the timeout, or another `DatabaseError`.
    package func moveLog() throws { try writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }

    /// Does the same as ``moveLog()``, but waits for no process that reads the file.
    ///
    /// - Throws: `SQLITE_BUSY` if another process reads: then only the part that this process no longer needs was
    ///   moved. Or another `DatabaseError`.
    package func moveLogWithoutWaiting() throws {
        try writeWithoutTransaction { database in
            let timeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(timeout)") }
            _ = try database.checkpoint(.truncate)
        }
    }

    /// Shrinks a database file whose table is empty, if more than ``SQLiteFile/maximumIdlePageCount`` pages are free.
    ///
    /// Call the function after ``moveLog()``: removed bytes are overwritten then, so that none of them is in the space
    /// that the file system gets back. Remaining rows would be moved, and left in that space; a file with rows
    /// therefore keeps its size. So does a file for which the function fails.
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

/// Decides when a write-ahead log is moved that SQLite could not move by itself, since other processes read at every
/// moment. It is pure.
package struct LogBound: Sendable {
    /// The log of a file without such readers has about a quarter of it.
    package static let standardByteCount = 16 << 20

    private let byteCount: Int
    private var nextByteCount: Int

    package init(byteCount: Int = standardByteCount) {
        self.byteCount = byteCount
        nextByteCount = byteCount
    }

    /// Whether the log is to be moved now.
    package func isExceeded(by count: Int) -> Bool { count > nextByteCount }

    /// Notes that an attempt has ended. A failed attempt, for which writers have waited, is repeated when the log has
    /// twice the size.
    package mutating func didMove(_ isMoved: Bool) {
        nextByteCount = isMoved ? byteCount : nextByteCount > .max / 2 ? .max : nextByteCount * 2
    }
}
