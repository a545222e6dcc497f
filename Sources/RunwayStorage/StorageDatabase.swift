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
    /// The file, and those that SQLite creates beside it, can be read and written by the user alone, and are not in
    /// backups. A folder that exists is not changed.
    ///
    /// - Parameter protect: Protects a folder or files. The default is ``StorageFolder/protect(_:)``.
    /// - Throws: A `DatabaseError` of SQLite, or a Foundation error where the folder can't be created.
    static func open(
        at url: URL, durability: Durability, overwritesRemovedBytes: Bool = false,
        protect: ([URL]) throws -> Void = StorageFolder.protect
    ) throws -> DatabaseQueue {
        let folder = url.deletingLastPathComponent()
        // Before the database is created: only then does it have the protection of its folder from the beginning.
        if try StorageFolder.prepare(folder) { try protect([folder]) }
        let queue = try SQLiteFile.open(
            at: url, waitsForDrive: durability == .full, overwritesRemovedBytes: overwritesRemovedBytes)
        // The write-ahead log exists by now.
        try protect(StorageFolder.files(of: url))
        return queue
    }
}
