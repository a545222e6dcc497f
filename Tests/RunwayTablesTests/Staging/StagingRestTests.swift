import Foundation
import GRDB
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTables

/// Rows that were staged and not moved yet: after a cancellation, a close, a kill or a migration.
struct StagingRestTests {
    private let folder = ScratchFolder()
    private var stagings: [URL] { StoreFiles.stagings(of: folder.file) }

    private func count(_ store: RecordStore, _ condition: Condition<Lists>? = nil) async throws -> Int {
        try await store.read { try $0.count(Lists.self, where: condition) }
    }

    /// Leaves a complete side file, of which some rows were moved. The task that is cancelled here is the one that
    /// moves, which no caller has.
    private func leaveStaging(_ count: Int, in store: RecordStore) async throws {
        let staging = Task {
            try await store.stage(NumberedLists(count: count)) { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await staging.value }
        #expect(stagings.count == 1)
    }

    @Test func theRestIsMovedLaterAndOnce() async throws {
        let store = try await folder.open()
        try await leaveStaging(2000, in: store)
        let first = try await count(store)
        #expect((1..<2000).contains(first))
        try await store.close()
        let again = try await folder.open()
        #expect(try await count(again) == first)
        try await again.finishStaging { moved, count in #expect(moved > first && count == 2000) }
        #expect(try await count(again) == 2000 && stagings.isEmpty)
        try await again.finishStaging { _, _ in Issue.record("nothing is left") }
    }

    @Test(arguments: [false, true]) func changesAfterAStagingStay(isReopened: Bool) async throws {
        var store = try await folder.open()
        try await leaveStaging(2000, in: store)
        if isReopened {
            try await store.close()
            store = try await folder.open()
        }
        #expect(try await count(store) < 2000)
        try await withThrowingTaskGroup(of: Void.self) { [store] group in
            for number in 1991...2000 {
                group.addTask { _ = try await store.write { try $0.save(list(number, "changed")) } }
            }
            try await group.waitForAll()
        }
        try await store.finishStaging()
        #expect(try await count(store) == 2000 && stagings.isEmpty)
        #expect(try await count(store, Lists.name_ == "changed") == 10)
    }

    @Test func aCancellationLeavesNoRest() async throws {
        let store = try await folder.open()
        let hold = AsyncStream<Void>.makeStream()
        let caller = Mutex<Task<Int, any Error>?>(nil)
        let staging = Task {
            for await _ in hold.stream {}
            return try await store.stage(NumberedLists(count: 2000)) { _, _ in caller.withLock { $0?.cancel() } }
        }
        caller.withLock { $0 = staging }
        hold.continuation.finish()
        #expect(try await staging.value == 2000)
        #expect(staging.isCancelled)
        #expect(try await count(store) == 2000 && !store.hasStagedRows)
    }

    @Test func theNextStagingMovesTheRestFirst() async throws {
        let store = try await folder.open()
        try await leaveStaging(1000, in: store)
        #expect(store.hasStagedRows)
        try await store.stage(NumberedLists(count: 1000, name: "newer"))
        #expect(try await count(store, Lists.name_ == "newer") == 1000 && stagings.isEmpty)
    }

    @Test func aStagingThatRunsIsLeftAlone() async throws {
        let (store, other) = (try await folder.open(), try await folder.open())
        let reached = AwaitedValue(0)
        let hold = AsyncStream<Void>.makeStream()
        let staging = Task {
            try await store.stage(
                NumberedLists(count: 100) { number in
                    if number < 100 { return }
                    reached.update { $0 = 1 }
                    for await _ in hold.stream {}
                })
        }
        try await reached.wait(until: 1)
        try await other.finishStaging()
        #expect(stagings.count == 1)
        // Two stagings at a time have two files.
        #expect(try await other.stage([list(1001)]) == 1)
        hold.continuation.finish()
        #expect(try await staging.value == 100)
        #expect(try await count(store) == 101 && stagings.isEmpty)
    }

    @Test func aClosedStoreLeavesTheRest() async throws {
        let store = try await folder.open()
        let result = await kind {
            try await store.stage(NumberedLists(count: 2000)) { moved, _ in
                if moved < 500 { Task { try await store.close() } }
            }
        }
        #expect(result == .unavailable && stagings.count == 1)
        let again = try await folder.open()
        try await again.finishStaging()
        #expect(try await count(again) == 2000)
    }

    @Test func aRemovedSideFileIsNeverLeft() async throws {
        try await folder.open().close()
        let isDone = Mutex(false)
        let other = Task { [file = folder.file] in
            var leftCount = 0
            while !isDone.withLock({ $0 }) {
                let files = (try? await RecordStore.inBackground { try StagingFile.left(for: file) }) ?? []
                leftCount += files.count
                for file in files { file.close() }
            }
            return leftCount
        }
        for _ in 0..<40 {
            let file = try StagingFile.create(for: folder.file, isBackedUp: false)
            try await file.append([[1]])
            #expect(try await file.complete() == 1)
            file.remove()
        }
        isDone.withLock { $0 = true }
        #expect(await other.value == 0)
        #expect(stagings.isEmpty)
    }

    @Test func damagedSideFilesAreOneError() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let store = try await folder.open()
        try await leaveStaging(1000, in: store)
        let whole = try Data(contentsOf: stagings[0])
        for _ in 0..<30 {
            var damaged = whole
            if Bool.random(using: &generator) {
                damaged = damaged.prefix(Int.random(in: 0..<whole.count, using: &generator))
            } else {
                for _ in 0..<20 { damaged[Int.random(in: 0..<whole.count, using: &generator)] ^= 0xFF }
            }
            let file = StoreFiles.newStaging(of: folder.file)
            for staging in stagings { StoreFiles.remove(staging) }
            try damaged.write(to: file)
            let result = await kind { try await store.finishStaging() }
            #expect(result == nil || result == .rejected, "seed \(seed)")
            #expect(stagings.isEmpty)
        }
        #expect(try await store.read { try String.fetchOne($0.connection, sql: "PRAGMA integrity_check") } == "ok")
    }

    @Test func stagedRowsTakeTheStepsOfAMigration() async throws {
        let store = try await folder.open([Lists.self])
        try await leaveStaging(1000, in: store)
        try await store.close()
        let renaming = Migrations(
            Step(
                "titles", sql: "ALTER TABLE list RENAME COLUMN name TO title; UPDATE list SET title = title || '!'",
                back: "ALTER TABLE list RENAME COLUMN title TO name"))
        let migrated = try await folder.open([TitledLists.self], renaming)
        #expect(stagings.isEmpty)
        let titled = try await migrated.read { try $0.count(TitledLists.self, where: TitledLists.title == "staged!") }
        #expect(titled == 1000)
        try await migrated.close()
        // The other way, too.
        try await folder.open([TitledLists.self], renaming).close()
        let old = try await folder.open([Lists.self])
        try await leaveStaging(2000, in: old)
        try await old.close()
        let up = try await folder.open([TitledLists.self], renaming)
        #expect(try await up.read { try $0.count(TitledLists.self) } == 2000)
    }

    @Test func stagedSecretsAreSealed() async throws {
        let (former, present) = (KeyedSealing(), KeyedSealing())
        let store = try await folder.open([Notes.self]) { $0.sealing = former }
        let rows = (0..<500).map { number in
            var row = Values<Notes>()
            row[Notes.id] = "\(number)"
            row[Notes.text] = Secret("nobody reads this")
            return row
        }
        let staging = Task { try await store.stage(rows) { _, _ in withUnsafeCurrentTask { $0?.cancel() } } }
        await #expect(throws: CancellationError.self) { try await staging.value }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            let file = folder.url.appending(path: name)
            #expect(try Data(contentsOf: file).firstRange(of: Data("nobody".utf8)) == nil)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        try await store.close()
        let rotated = try await folder.open([Notes.self]) { ($0.sealing, $0.formerSealings) = (present, [former]) }
        #expect(try await rotated.resealSecrets() == 500)
        try await rotated.close()
        let later = try await folder.open([Notes.self]) { $0.sealing = present }
        let opened = try await later.read { try $0.fetch(Notes.self) }
        #expect(opened.count == 500 && opened.allSatisfy { $0[Notes.text]?.value == "nobody reads this" })
    }

    @Test func stagedRowsAreSetAsideWithTheirFile() async throws {
        let store = try await folder.open()
        try await leaveStaging(1000, in: store)
        try await store.close()
        try Data(repeating: 0x41, count: 8192).write(to: folder.file)
        let anew = try await folder.open { $0.recover = { _ in .setAside } }
        #expect(stagings.isEmpty)
        #expect(StoreFiles.stagings(of: try #require(anew.setAside)).count == 1)
        try await anew.finishStaging()
        #expect(try await count(anew) == 0)
    }

    #if os(Linux) || os(macOS)
        @Test(arguments: [1500, 200]) func aKilledStagingIsAllOrCompleted(_ place: Int) async throws {
            try await folder.open().close()
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = folder.file.path as String, place = place as Int] in
                let store = try await RecordStore.open(
                    at: URL(fileURLWithPath: path), tables: [Tasks.self, Lists.self])
                // In the side file, or among the transactions that follow.
                let rows = NumberedLists(count: 2000, name: String(repeating: "x", count: 1000)) { number in
                    if place > 1000, number == place { kill(getpid(), SIGKILL) }
                }
                try await store.stage(rows) { moved, _ in if moved >= place { kill(getpid(), SIGKILL) } }
            }
            #expect(stagings.count == 1)
            let store = try await folder.open()
            let first = try await count(store)
            #expect(place > 1000 ? first == 0 : (200..<2000).contains(first))
            if first > 0 { try await store.write { _ = try $0.save(list(2000, "changed later")) } }
            try await store.finishStaging()
            #expect(stagings.isEmpty)
            #expect(try await count(store) == (place > 1000 ? 0 : 2000))
            #expect(try await count(store, Lists.name_ == "changed later") == (place > 1000 ? 0 : 1))
        }
    #endif
}

private enum TitledLists: RunwayTables.TableDefinition {
    static let name = "list"
    static let id = Column<Int>("id"), title = Column<String>("title", default: "it's new")
    static let columns = TableColumns<Self>(id, title)
}
