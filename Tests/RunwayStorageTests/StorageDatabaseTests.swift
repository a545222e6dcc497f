import Foundation
import GRDB
import RunwaySQLite
import Testing

@testable import RunwayStorage

struct StorageDatabaseTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "runway-storage-\(UUID().uuidString)")

    @Test func databaseUsesTheWALAndIsPrivate() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "log.sqlite")
        let queue = try StorageDatabase.open(at: url, durability: .full)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: file).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
    }

    @Test func newFolderIsProtectedBeforeItsFiles() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "Documents/log.sqlite")
        var protected: [[String]] = []
        func openAndClose() throws {
            let queue = try StorageDatabase.open(at: url, durability: .full) { urls in
                if protected.isEmpty { #expect(!FileManager.default.fileExists(atPath: url.path)) }
                protected.append(urls.map(\.lastPathComponent))
            }
            try queue.close()
        }
        let files = ["log.sqlite", "log.sqlite-wal", "log.sqlite-shm"]
        try openAndClose()
        #expect(protected == [["Documents"], files])
        // A folder that existed may be the one for all of the user's documents.
        try openAndClose()
        #expect(protected == [["Documents"], files, files])
    }

    /// See `docs/decisions/0081-size-of-the-log.md`.
    @Test(arguments: [StorageDatabase.Durability.full, .normal])
    func logIsBoundedUnderSteadyWriting(durability: StorageDatabase.Durability) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "log.sqlite")
        let queue = try StorageDatabase.open(at: url, durability: durability)
        let row = Data(repeating: 7, count: 10_000)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        func write(_ count: Int) throws -> Int {
            try queue.write { database in
                for _ in 0..<count { try database.execute(sql: "INSERT INTO t VALUES (?)", arguments: [row]) }
            }
            return SQLiteFile.logByteCount(of: url)
        }
        // 20 MB in small transactions: the log never has more than 1,000 pages and the last transaction.
        var largest = 0
        for _ in 0..<200 { largest = max(largest, try write(10)) }
        #expect((1 << 20...5 << 20).contains(largest), "\(largest)")
        // A large transaction is in it whole, and what it took is given back.
        #expect(try write(2000) > 16 << 20)
        _ = try write(1)
        #expect(try write(1) <= SQLiteFile.maximumIdleLogByteCount)
        try queue.close()
    }

    /// Only Apple's systems have another way to flush a file; the settings are SQLite's everywhere.
    @Test(arguments: [(StorageDatabase.Durability.full, 1), (.normal, 0)])
    func fullDurabilityFlushesBeyondTheDrivesOwnMemory(durability: StorageDatabase.Durability, fullfsync: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let queue = try StorageDatabase.open(at: folder.appending(path: "log.sqlite"), durability: durability)
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA fullfsync") } == fullfsync)
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA checkpoint_fullfsync") } == 1)
    }
}
