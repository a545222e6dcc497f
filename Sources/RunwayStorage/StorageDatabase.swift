import Foundation
import GRDB
import RunwaySQLite

/// Opens the SQLite databases of this target.
enum StorageDatabase {
    /// When SQLite waits until what was committed is on the drive.
    enum Durability: String {
        /// At every commit: a committed transaction survives a power loss.
        case full = "FULL"
        /// At every checkpoint: a power loss may undo the last commits, and leaves the database consistent.
        case normal = "NORMAL"
    }

    /// Opens the database at a path with one connection, and creates it and its folder if there is none.
    ///
    /// The file, and those that SQLite creates beside it, can be read and written by the user alone, and are not in backups. A folder that
    /// exists is not changed.
    ///
    /// - Throws: A `DatabaseError` of SQLite, or a Foundation error where the folder can't be created.
    static func open(
        at url: URL, durability: Durability, overwritesRemovedBytes: Bool = false
    ) throws -> DatabaseQueue {
        let isFolderNew = try StorageFolder.prepare(url.deletingLastPathComponent())
        let queue = try SQLiteFile.open(
            at: url, waitsForDrive: durability == .full, overwritesRemovedBytes: overwritesRemovedBytes)
        // The write-ahead log exists by now.
        try StorageFolder.protect(StorageFolder.protected(of: url, isFolderNew: isFolderNew))
        return queue
    }
}
