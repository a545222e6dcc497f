import Foundation
import GRDB
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// Damage at every page and at random bytes of a journal: what was appended is returned or counted, and the owner is notified once.
struct JournalSweepTests {
    private static let scopes = ["quartz", "slate"]

    /// A closed file.
    private struct File {
        var data: Data
        /// What it has, by id.
        var entries: [UUID: JournalEntry] = [:]
        /// The pages whose bytes decide what the others mean, and how many entries were there: the schema and the counts.
        var indispensablePages: Set<Int> = []
    }

    /// The bytes of a closed file with entries of several pages: some are claimed, and some are set aside.
    private func file(_ count: Int) throws -> File {
        let folder = ScratchFolder()
        let journal = try Journal(in: folder)
        let entries = (0..<count).map { number in
            JournalEntry("entry \(number) " + String(repeating: "x", count: 100), scope: Self.scopes[number % 2])
        }
        try journal.append(entries, at: .seconds(0))
        let refused = try #require(try journal.claim("slate", upTo: 3))
        try journal.setAside(Dictionary(uniqueKeysWithValues: refused.ids.map { ($0, "refused") }), of: refused)
        try journal.acknowledge(refused, [])
        _ = try #require(try journal.claim("quartz", upTo: 5))
        try journal.noteAccounts(Set(Self.scopes))
        let tally = try journal.write { database in
            try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'tally'")
        }
        try journal.close()
        return File(
            data: try Data(contentsOf: folder.file),
            entries: Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0) }),
            indispensablePages: [0, try #require(tally) - 1])
    }

    /// The bytes of a file whose user opted out.
    private func optedOutFile() throws -> Data {
        let folder = ScratchFolder()
        let journal = try Journal(in: folder)
        try journal.append(["a", "b"], scope: "quartz")
        try journal.setErasurePending("quartz", true)
        try journal.setOptedOut(true)
        try journal.close()
        return try Data(contentsOf: folder.file)
    }

    /// Opens a damaged file as its owner does.
    private func withStore(
        of data: Data, _ body: (JournalQueue) async throws -> Void
    ) async throws {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try data.write(to: folder.file)
        let store = JournalQueue(at: folder.file, limits: JournalLimits(), durability: .normal, sealing: nil) {
            .seconds(0)
        }
        try await body(store)
        await store.close()
    }

    /// - Parameter isCounted: Whether the file says how many entries it had.
    private func expectNothingUnnoticed(
        in data: Data, of file: File, isCounted: Bool, _ comment: Comment
    ) async throws {
        try await withStore(of: data) { store in
            let found = Mutex<[JournalEntry]>([])
            let lost: [JournalLoss: Int]
            do throws(StorageError) {
                // The operation runs again on a new file, if it finds damage.
                lost = try await store.run { journal throws(StorageError) in
                    try journal.unseal()
                    for scope in Self.scopes {
                        while let batch = try journal.claim(scope) {
                            try journal.acknowledge(batch, batch.ids)
                            found.withLock { $0 += batch.entries.map(\.asAppended) }
                        }
                    }
                    let (setAside, lost) = (try journal.entriesSetAside(), try journal.counts().lost)
                    found.withLock { $0 += setAside.map(\.asAppended) }
                    return lost
                }
                try await store.run { journal throws(StorageError) in try journal.append(["new"]) }
            } catch {
                Issue.record("\(comment): \(error)")
                return
            }
            let entries = found.withLock { $0 }
            #expect(entries.allSatisfy { file.entries[$0.id] == $0 }, comment)
            #expect(Set(entries.map(\.id)).count == entries.count, comment)
            #expect(Set(lost.keys).isSubset(of: [.damaged]) && store.filesSetAside.count <= 1, comment)
            let isComplete = entries.count + lost[.damaged, default: 0] == file.entries.count
            #expect(isComplete || !isCounted && store.filesSetAside.count == 1, comment)
        }
    }

    /// Inverts bits of some bytes.
    private func flip(
        _ data: Data, besides pages: Set<Int> = [], _ generator: inout SeededGenerator
    ) -> Data {
        var damaged = data
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = Int.random(in: 0..<data.count, using: &generator)
            let bits = UInt8.random(in: 1...255, using: &generator)
            if !pages.contains(place / 4096) { damaged[place] ^= bits }
        }
        return damaged
    }

    @Test func truncationLosesNothingUnnoticed() async throws {
        let file = try file(300)
        #expect(file.data.count > 20 * 4096)
        for end in stride(from: 4096, to: file.data.count, by: 4096) {
            for end in [end, end + 1000] {
                try await expectNothingUnnoticed(
                    in: file.data.prefix(end), of: file, isCounted: false, "truncated at \(end)")
            }
        }
    }

    /// A page may say that it has more cells than were written. SQLite then finds rows that never were entries.
    @Test func inventedRowsAreNotCountedAsLost() async throws {
        let file = try file(60)
        // Leaves of tables: the type 13 at the beginning, the count of cells in the fourth and fifth byte (SQLite's file format §1.6).
        let leaves = stride(from: 4096, to: file.data.count, by: 4096).filter { file.data[$0] == 13 }
        #expect(leaves.count > 2)
        for leaf in leaves where !file.indispensablePages.contains(leaf / 4096) {
            for count in stride(from: 7, through: UInt8.max, by: 8) {
                var damaged = file.data
                damaged[leaf + 4] = count
                try await expectNothingUnnoticed(
                    in: damaged, of: file, isCounted: true, "\(count) cells of page \(leaf / 4096 + 1)")
            }
        }
    }

    @Test func flippedBytesLoseNothingUnnoticed() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let file = try file(60)
        for round in 0..<300 {
            let damaged = flip(file.data, besides: file.indispensablePages, &generator)
            try await expectNothingUnnoticed(in: damaged, of: file, isCounted: true, "seed \(seed), round \(round)")
        }
    }

    /// With a damaged schema or damaged counts, nobody knows how many entries there were.
    @Test func flippedBytesAnywhereYieldNoWrongEntry() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let file = try file(60)
        for round in 0..<200 {
            try await withStore(of: flip(file.data, &generator)) { store in
                let comment: Comment = "seed \(seed), round \(round)"
                do throws(StorageError) {
                    let found = try await store.run { journal throws(StorageError) in
                        try journal.entries().map(\.asAppended)
                    }
                    #expect(found.allSatisfy { file.entries[$0.id] == $0 }, comment)
                    #expect(Set(found.map(\.id)).count == found.count, comment)
                    try await store.run { journal throws(StorageError) in try journal.append(["new"]) }
                } catch {
                    Issue.record("\(comment): \(error)")
                }
                #expect(store.filesSetAside.count <= 1, comment)
            }
        }
    }

    @Test func damageNeverEndsAnOptOut() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let data = try optedOutFile()
        var files = (0..<300).map { ("seed \(seed), round \($0)", flip(data, &generator)) }
        for end in stride(from: 1000, to: data.count, by: 1000) {
            files.append(("truncated at \(end)", data.prefix(end)))
        }
        for (name, file) in files {
            try await withStore(of: file) { store in
                let isOptedOut = try await store.read { journal throws(StorageError) in try journal.isOptedOut() }
                #expect(isOptedOut && store.filesSetAside.count <= 1, "\(name)")
            }
        }
    }
}
