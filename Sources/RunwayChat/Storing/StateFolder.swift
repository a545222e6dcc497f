import Foundation
import Runway

/// The folder of a store of conversations.
enum StateFolder {
    /// Creates a folder, unless it exists, and removes the access of other users.
    ///
    /// - Throws: The error of the file system.
    static func prepare(_ folder: URL) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // The folder may have existed.
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        #if canImport(Darwin)
            try PrivateFolder.protect(folder)
        #endif
    }
}
