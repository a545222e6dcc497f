import Foundation
import Runway

/// Prepares the folder of a store of conversations.
enum StateFolder {
    /// Creates a folder if it does not exist, and removes the access of other users.
    ///
    /// - Throws: The error of the file system.
    static func prepare(_ folder: URL) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // An existing folder may have other permissions.
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        #if canImport(Darwin)
            try PrivateFolder.protect(folder)
        #endif
    }
}
