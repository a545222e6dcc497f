import Foundation
import GRDB

/// Opens the SQLite databases of this target.
enum StorageDatabase {
    /// When SQLite waits until what was committed is on the drive.
    enum Durability: String {
        /// At every commit: a committed transaction survives a power loss.
        case full = "FULL"
        /// At every checkpoint: a power loss may undo the last commits, and leaves the database consistent.
        case normal = "NORMAL"
    }

    /// Opens the database at a path in write-ahead-log mode, and creates it if there is none.
    ///
    /// All reads, writes and checkpoints use one connection: before SQLite 3.51.3, two connections that write or checkpoint at once can
    /// lose a commit. The file, and those that SQLite creates beside it, can be read and written by the user alone, and are not in backups.
    ///
    /// - Throws: A `DatabaseError` of SQLite, or a Foundation error where the folder can't be created.
    static func open(at url: URL, durability: Durability) throws -> DatabaseQueue {
        try StorageFolder.prepare(url.deletingLastPathComponent())
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
            // On Apple's systems `fsync` leaves the bytes in the drive's own memory, which then loses them out of order. These have
            // SQLite use F_FULLFSYNC there, and change nothing elsewhere.
            try database.execute(sql: "PRAGMA checkpoint_fullfsync = 1")
            if durability == .full { try database.execute(sql: "PRAGMA fullfsync = 1") }
        }
        // SQLite takes an empty file for a new database, and creates the other files with the permissions of this one. A file that exists
        // is not opened: closing it would release the locks that this process has on it.
        try? Data().write(to: url, options: .withoutOverwriting)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        return try DatabaseQueue(path: url.path, configuration: configuration)
    }
}

extension DatabaseQueue {
    /// Runs a transaction. If the disk is full, moves the write-ahead log to the database file, and runs the transaction once more.
    ///
    /// SQLite itself moves the log at about 4 MB. On a small disk the log takes all space before, and what is freed later, too.
    func writeMakingRoom<Value>(_ change: (Database) throws -> Value) throws -> Value {
        do {
            return try write(change)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            guard (try? writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }) != nil else { throw error }
            return try write(change)
        }
    }
}
