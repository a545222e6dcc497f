package import Foundation
import Runway

/// The folder of files of this module.
package enum StorageFolder {
    /// Creates a folder that only the user can read, unless it exists.
    ///
    /// - Returns: Whether the folder was created. Only then it belongs to this module: a folder that exists may be the
    ///   one for all of the user's documents.
    /// - Throws: An error of Foundation.
    package static func prepare(_ folder: URL) throws -> Bool {
        let isNew = !FileManager.default.fileExists(atPath: folder.path)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return isNew
    }

    /// Excludes a folder or files from backups on Apple's systems, and makes them, and the files that are created in
    /// the folder, readable as soon as the device was unlocked once: a call in the background reads them while the
    /// device is locked.
    ///
    /// - Parameter isBackedUp: Whether they are in backups after all. The default is `false`.
    /// - Throws: An error of Foundation.
    package static func protect(_ urls: [URL], isBackedUp: Bool = false) throws {
        #if canImport(Darwin)
            for url in urls { try PrivateFolder.protect(url, isBackedUp: isBackedUp) }
        #endif
    }

    /// Returns the files of a database that exist.
    package static func files(of database: URL) -> [URL] {
        ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: database.path + $0) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
    }
}
