import Foundation
import GRDB
import RunwaySQLite

/// Opens the SQLite databases of this target.
enum StorageDatabase {
    /// The moments at which SQLite waits until committed transactions are on the drive.
    enum Durability: String {
        /// Waits at every commit: a committed transaction survives a power loss.
        case full = "FULL"
        /// Waits at every checkpoint: a power loss may undo the last commits, and leaves the database consistent.
        case normal = "NORMAL"
    }

    /// Opens the database at a path with one connection, and creates it and its folder unless they exist.
    ///
    /// Only the user can read and write the file, and the other files that SQLite creates for it; they are excluded
    /// from backups. A folder that exists is not changed.
    ///
    /// - Parameter protect: Protects a folder or files. The default is ``StorageFolder/protect(_:)``.
    /// - Throws: A `DatabaseError` of SQLite, or a Foundation error where the folder can't be created.
    static func open(
        at url: URL, durability: Durability, overwritesRemovedBytes: Bool = false,
        protect: ([URL]) throws -> Void = { try StorageFolder.protect($0) }
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
