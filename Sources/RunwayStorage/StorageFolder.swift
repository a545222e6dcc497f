package import Foundation
import Runway

/// Creates and protects the folders of stored files.
package enum StorageFolder {
    /// Creates a folder that only the user can read, if it does not exist.
    ///
    /// - Returns: Whether the folder was created. An existing folder may contain other files of the user, so it does
    ///   not belong to this module.
    /// - Throws: An error of Foundation.
    package static func prepare(_ folder: URL) throws -> Bool {
        let isNew = !FileManager.default.fileExists(atPath: folder.path)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return isNew
    }

    /// Sets the protection of a folder or files on Apple's systems. Backups exclude them. The folder or files can be
    /// read once the device has been unlocked after a restart, so that background tasks can read them while the device
    /// is locked. The same applies to files that are created in the folder later.
    ///
    /// - Parameter isBackedUp: Whether backups include them. The default is `false`.
    /// - Throws: An error of Foundation.
    package static func protect(_ urls: [URL], isBackedUp: Bool = false) throws {
        #if canImport(Darwin)
            for url in urls { try PrivateFolder.protect(url, isBackedUp: isBackedUp) }
        #endif
    }

    package static func files(of database: URL) -> [URL] {
        ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: database.path + $0) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
    }
}
