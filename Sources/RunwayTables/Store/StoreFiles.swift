import Foundation
import RunwayStorage

/// Operations on the files of one database while nothing has them open.
enum StoreFiles {
    private static let endings = ["", "-wal", "-shm", "-journal", "-files"]

    /// The folder of the stored files of a database.
    static func filesFolder(of database: URL) -> URL { URL(fileURLWithPath: database.path + "-files") }

    /// Whether rows wait beside a database for their transactions.
    static func hasStagedRows(_ database: URL) -> Bool {
        let names = try? FileManager.default.contentsOfDirectory(atPath: database.deletingLastPathComponent().path)
        return names?.contains { $0.hasPrefix(database.lastPathComponent + "-staging-") } ?? false
    }

    /// Removes the files of a database.
    static func remove(_ url: URL) {
        for file in StorageFolder.files(of: url) + [filesFolder(of: url)] {
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// Renames the files of a database, so that they can still be opened together.
    ///
    /// - Returns: The new name of the database.
    static func setAside(_ url: URL) throws -> URL {
        for number in 1... {
            let name = URL(fileURLWithPath: url.path + ".unreadable-\(number)")
            guard endings.allSatisfy({ !FileManager.default.fileExists(atPath: name.path + $0) }) else { continue }
            // The log first: a database without its log is an older state, a log without its database is nothing.
            for ending in endings.reversed() where FileManager.default.fileExists(atPath: url.path + ending) {
                try FileManager.default.moveItem(atPath: url.path + ending, toPath: name.path + ending)
            }
            return name
        }
        return url
    }
}
