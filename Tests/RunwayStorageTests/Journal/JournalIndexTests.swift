import Foundation
import GRDB
import Testing

@testable import RunwayStorage

/// Damage that SQLite does not find: an index, or a state, says something else than the entries.
struct JournalIndexTests {
    private let folder = ScratchFolder()

    private func store() -> JournalQueue {
        JournalQueue(at: folder.file, limits: JournalLimits(), durability: .normal, sealing: nil) { .seconds(0) }
    }

    @Test func entryWithAWrongIndexIsClaimed() async throws {
        let journal = try Journal(in: folder)
        let texts = (0..<5).map { "\($0)" }
        try journal.append(texts, scope: "quartz")
        let root = try journal.write { database in
            try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'entry_by_scope'")
        }
        try journal.close()
        var data = try Data(contentsOf: folder.file)
        let start = (try #require(root) - 1) * 4096
        let place = try #require(data.range(of: Data("quartz".utf8), in: start..<start + 4096))
        // The last letter is another one.
        data[place.upperBound - 1] ^= 1
        try data.write(to: folder.file)
        let store = store()
        let (claimed, lost) = try await store.run { journal throws(StorageError) in
            (try journal.drain("quartz").map(\.text), try journal.counts().lost)
        }
        #expect(claimed == texts && lost == [:] && store.filesSetAside.count == 1)
        await store.close()
    }

    @Test func countedEntryThatIsNotFoundIsDamage() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        try journal.write { try $0.execute(sql: "INSERT INTO tally VALUES (0, 'quartz', 1, 1)") }
        #expect { try journal.claim("quartz") } throws: { ($0 as? StorageError)?.kind == .corrupted }
        #expect(try journal.claim()?.texts == ["a"])
    }

    @Test func entryOfAnUnknownStateWaitsAgain() async throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        try journal.write { try $0.execute(sql: "UPDATE entry SET state = 66 WHERE sequence = 1") }
        try journal.close()
        let store = store()
        let texts = try await store.run { journal throws(StorageError) in try journal.drain().map(\.text) }
        #expect(texts == ["a", "b"] && store.filesSetAside.count == 1)
        await store.close()
    }
}
