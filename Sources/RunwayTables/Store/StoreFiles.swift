import Foundation
import RunwayStorage

/// Operations on the files of one database while nothing has them open.
enum StoreFiles {
    private static let endings = ["", "-wal", "-shm", "-journal", "-files"]
    private static let stagingInfix = "-staging-"

    /// The folder of the stored files of a database.
    static func filesFolder(of database: URL) -> URL { URL(fileURLWithPath: database.path + "-files") }

    /// Whether rows wait beside a database for their transactions.
    static func hasStagedRows(_ database: URL) -> Bool { !stagings(of: database).isEmpty }

    /// The name of the side file of a new staging.
    static func newStaging(of url: URL) -> URL {
        URL(fileURLWithPath: url.path + "\(stagingInfix)\(UUID().uuidString)")
    }

    /// Returns the side files of stagings that have not ended, or that were interrupted.
    static func stagings(of url: URL) -> [URL] {
        let (folder, start) = (url.deletingLastPathComponent(), url.lastPathComponent + stagingInfix)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasPrefix(start) && $0.utf8.count == start.utf8.count + 36 }
            .sorted().map { folder.appending(path: $0) }
    }

    /// Removes the files of a database, and the stagings for it.
    static func remove(_ url: URL) {
        let staged = stagings(of: url).flatMap(StorageFolder.files(of:))
        for file in staged + StorageFolder.files(of: url) + [filesFolder(of: url)] {
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
            // Moves the log before the database: a database without its log is an older state, and a log without its
            // database is useless.
            for ending in endings.reversed() where FileManager.default.fileExists(atPath: url.path + ending) {
                try FileManager.default.moveItem(atPath: url.path + ending, toPath: name.path + ending)
            }
            // Rows that were staged for this file don't belong into another one.
            for file in stagings(of: url).flatMap(StorageFolder.files(of:)) {
                try FileManager.default.moveItem(
                    atPath: file.path, toPath: name.path + file.path.dropFirst(url.path.count))
            }
            return name
        }
        return url
    }
}
