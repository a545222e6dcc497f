import Foundation
import GRDB
import RunwaySQLite
import RunwayStorage

/// The side file of one staging: drafts that wait for the database, in their order.
///
/// The process that stages locks the file until the staging ends, or the process ends.
final class StagingFile: Sendable {
    let url: URL
    /// The number of drafts when the file was opened; `nil` if it was not complete.
    let count: Int?
    private let queue: DatabaseQueue

    private init(_ url: URL) throws {
        self.url = url
        queue = try SQLiteFile.open(at: url, waitsForDrive: false) {
            try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        }
        // The first transaction takes the lock, and the connection has it from then on.
        count = try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS draft (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
                    CREATE TABLE IF NOT EXISTS complete (count INTEGER NOT NULL) STRICT
                    """)
            return try Int.fetchOne(database, sql: "SELECT count FROM complete")
        }
    }

    static func create(for database: URL, isBackedUp: Bool) throws -> StagingFile {
        while true {
            let url = StoreFiles.newStaging(of: database)
            do {
                let file = try StagingFile(url)
                if FileManager.default.fileExists(atPath: url.path) {
                    try StorageFolder.protect(StorageFolder.files(of: url), isBackedUp: isBackedUp)
                    return file
                }
            } catch let error as DatabaseError where error.failure(of: url) == .locked {}
            // Another process has locked or removed the new file as one that was left.
        }
    }

    /// Returns the complete files that stagings have left, and removes the others.
    ///
    /// - Throws: ``TableError/Kind/rejected`` if one is damaged; it was removed then.
    static func left(for database: URL) throws -> [StagingFile] {
        try StoreFiles.stagings(of: database).compactMap { url in
            do {
                let file = try StagingFile(url)
                if file.count != nil { return file }
                file.remove()
                return nil
            } catch let error as DatabaseError where error.failure(of: url) == .locked {
                // Its staging has not ended.
                return nil
            } catch let error as DatabaseError where error.failure(of: url) == .damaged {
                StoreFiles.remove(url)
                throw TableError(.rejected, "Staged rows of \(database.lastPathComponent) are damaged: none is left.")
            }
        }
    }

    func append(_ drafts: [[UInt8]]) async throws {
        try await queue.write { database in
            let statement = try database.cachedStatement(sql: "INSERT INTO draft (bytes) VALUES (?)")
            for bytes in drafts { try statement.execute(arguments: [Data(bytes)]) }
        }
    }

    /// Marks the file as complete: neither a kill nor a power loss loses its drafts from then on.
    ///
    /// - Returns: The number of drafts.
    func complete() async throws -> Int {
        let count = try await queue.write { database in
            try database.execute(sql: "INSERT INTO complete SELECT COUNT(*) FROM draft")
            return try Int.fetchOne(database, sql: "SELECT count FROM complete") ?? 0
        }
        try await queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        return count
    }

    /// Returns the drafts after a number: at most `limit`, and no more once they have 256 KiB.
    ///
    /// - Throws: ``TableError``, which is of the kind `rejected` if the file is damaged.
    func drafts(after number: Int, limit: Int) async throws -> [StagedDraft] {
        do {
            return try await queue.read { database in
                let cursor = try Data.fetchCursor(
                    database, sql: "SELECT bytes FROM draft WHERE number > ? ORDER BY number LIMIT ?",
                    arguments: [number, limit])
                var (drafts, byteCount): ([StagedDraft], Int) = ([], 0)
                while byteCount < 256 << 10, let bytes = try cursor.next() {
                    guard let draft = StagedDraft(Array(bytes)) else { throw Self.damage }
                    drafts.append(draft)
                    byteCount += bytes.count
                }
                if drafts.isEmpty { throw Self.damage }
                return drafts
            }
        } catch {
            let failure = TableError(error, at: url)
            throw failure?.kind == .corrupted ? Self.damage : failure ?? error
        }
    }

    private static let damage = TableError(.rejected, "The side file is damaged.")

    func close() { try? queue.close() }

    /// Removes the file while it is locked, so that no other process takes it for one that was left.
    func remove() {
        StoreFiles.remove(url)
        close()
    }
}
