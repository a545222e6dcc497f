import Foundation
import GRDB
import RunwaySQLite

enum StorageDatabase {
    /// Determines when SQLite waits until committed transactions are on the drive.
    enum Durability: String {
        /// SQLite waits at every commit. A committed transaction survives a power loss.
        case full = "FULL"
        /// SQLite waits at every checkpoint. A power loss may undo the last commits, but leaves the database
        /// consistent.
        case normal = "NORMAL"
    }

    /// Opens the database at a path with one connection. Creates it and its folder if they do not exist.
    ///
    /// Only the user can read and write the files, and backups exclude them. An existing folder is not changed.
    ///
    /// - Parameter protect: Protects a folder or files. The default is ``StorageFolder/protect(_:)``.
    /// - Throws: A `DatabaseError`, or a Foundation error if the folder can't be created.
    static func open(
        at url: URL, durability: Durability, overwritesRemovedBytes: Bool = false,
        protect: ([URL]) throws -> Void = { try StorageFolder.protect($0) }
    ) throws -> DatabaseQueue {
        let folder = url.deletingLastPathComponent()
        // The folder is protected first, so that the database has its protection from the start.
        if try StorageFolder.prepare(folder) { try protect([folder]) }
        let queue = try SQLiteFile.open(
            at: url, waitsForDrive: durability == .full, overwritesRemovedBytes: overwritesRemovedBytes)
        // The write-ahead log exists now, so it can be protected, too.
        try protect(StorageFolder.files(of: url))
        return queue
    }
}
