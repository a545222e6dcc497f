import Foundation
import GRDB
import Testing

@testable import RunwayStorage

struct StorageDatabaseTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "runway-storage-\(UUID().uuidString)")

    @Test func databaseUsesTheWriteAheadLogAndIsPrivate() throws {
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

    /// Only Apple's systems have another way to flush a file; the settings are SQLite's everywhere.
    @Test(arguments: [(StorageDatabase.Durability.full, 1), (.normal, 0)])
    func fullDurabilityFlushesBeyondTheDrivesOwnMemory(durability: StorageDatabase.Durability, fullfsync: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let queue = try StorageDatabase.open(at: folder.appending(path: "log.sqlite"), durability: durability)
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA fullfsync") } == fullfsync)
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA checkpoint_fullfsync") } == 1)
    }
}
