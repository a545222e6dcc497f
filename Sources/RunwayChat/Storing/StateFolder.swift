import Foundation
import Runway

/// The folder of a store of conversations.
enum StateFolder {
    /// Creates a folder, unless it exists, and takes it away from other users.
    ///
    /// - Throws: What the file system reports.
    static func prepare(_ folder: URL) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // It may have existed.
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        #if canImport(Darwin)
            try PrivateFolder.protect(folder)
        #endif
    }
}
