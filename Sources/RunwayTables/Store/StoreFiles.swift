import Foundation
import RunwayStorage

/// Operations on the files of one database while nothing has them open.
enum StoreFiles {
    private static let endings = ["", "-wal", "-shm", "-journal", "-files"]
    private static let stagingInfix = "-staging-"
    private static let rehearsalInfix = "-rehearsal-"

    /// The folder of the stored files of a database.
    static func filesFolder(of database: URL) -> URL { URL(fileURLWithPath: database.path + "-files") }

    /// Whether rows wait beside a database for their transactions.
    static func hasStagedRows(_ database: URL) -> Bool { !stagings(of: database).isEmpty }

    /// The name of the side file of a new staging.
    static func newStaging(of url: URL) -> URL { newSideFile(of: url, stagingInfix) }

    /// The name of a new copy on which steps are rehearsed.
    static func newRehearsal(of url: URL) -> URL { newSideFile(of: url, rehearsalInfix) }

    /// Returns the side files of stagings that have not ended, or that were interrupted.
    static func stagings(of url: URL) -> [URL] { sideFiles(of: url, stagingInfix) }

    /// Returns the copies of rehearsals that have not ended, or that were interrupted.
    static func rehearsals(of url: URL) -> [URL] { sideFiles(of: url, rehearsalInfix) }

    private static func newSideFile(of url: URL, _ infix: String) -> URL {
        URL(fileURLWithPath: url.path + "\(infix)\(UUID().uuidString)")
    }

    private static func sideFiles(of url: URL, _ infix: String) -> [URL] {
        let (folder, start) = (url.deletingLastPathComponent(), url.lastPathComponent + infix)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasPrefix(start) && $0.utf8.count == start.utf8.count + 36 }
            .sorted().map { folder.appending(path: $0) }
    }

    /// Removes the files of a database, the stagings for it, and its copies.
    static func remove(_ url: URL) {
        let sideFiles = (stagings(of: url) + rehearsals(of: url)).flatMap(StorageFolder.files(of:))
        for file in sideFiles + StorageFolder.files(of: url) + [filesFolder(of: url)] {
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// Renames the files of a database, so that they can still be opened together, and removes its copies.
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
            rehearsals(of: url).forEach(remove)
            return name
        }
        return url
    }
}
