import Foundation
import Runway

/// The folder of files of this module.
enum StorageFolder {
    /// Creates a folder for the user alone, unless it exists.
    ///
    /// On Apple's systems the folder is excluded from backups, and what is created in it can be read as soon as the device was unlocked
    /// once: a call in the background reads it while the device is locked.
    ///
    /// - Throws: An error of Foundation.
    static func prepare(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #if canImport(Darwin)
            try PrivateFolder.protect(folder)
        #endif
    }
}
