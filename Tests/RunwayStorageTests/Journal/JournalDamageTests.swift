import Foundation
import GRDB
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// What a journal does with a file that it can't read, and with a disk that it can't write.
struct JournalDamageTests {
    private let folder = ScratchFolder()

    /// Opens the file as an owner does, and returns the names under which unreadable ones were set aside, with the reasons.
    private func open(_ folder: ScratchFolder) throws -> (Journal, [StorageError.Kind]) {
        var reports: [StorageError.Kind] = []
        let file = try LockedJournalFile(at: folder.file, limits: JournalLimits(), durability: .normal)
        let journal = try file.open(time: .seconds(0)) { error, file in
            reports.append(error.kind)
            #expect(FileManager.default.fileExists(atPath: file.path))
        }
        return (journal, reports)
    }

    /// The process ended while a damaged file was being replaced.
    @Test func interruptedReplacementIsContinued() throws {
        let first = try Journal(in: folder)
        try first.append(["a"])
        try first.close()
        // The new file is not complete: the damaged one is in its place still.
        let copy = folder.file.appendingPathExtension("new")
        try Data("incomplete".utf8).write(to: copy)
        var data = try Data(contentsOf: folder.file)
        data.replaceSubrange(0..<16, with: Data(repeating: 0, count: 16))
        try data.write(to: folder.file)
        let (second, reports) = try open(folder)
        #expect(reports == [.corrupted] && !FileManager.default.fileExists(atPath: copy.path))
        try second.append(["b"])
        try second.close()
        // The new file is complete, and the damaged one was renamed but for its log.
        try FileManager.default.moveItem(at: folder.file, to: copy)
        try Data("stale".utf8).write(to: URL(fileURLWithPath: folder.file.path + "-wal"))
        let (third, others) = try open(folder)
        #expect(others.isEmpty && !FileManager.default.fileExists(atPath: copy.path))
        #expect(try third.claim()?.texts.last == "b")
    }

    @Test func damagedEntryIsRemovedAndCounted() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a", "b", "c"])
        try journal.write { try $0.execute(sql: "UPDATE entry SET payload = x'00' WHERE sequence = 2") }
        #expect(try journal.claim()?.texts == ["a", "c"])
        #expect(try journal.counts().lost == [.damaged: 1])
    }

    /// Overwrites the page that has a text.
    private func damagePage(with text: String, of file: URL) throws {
        var data = try Data(contentsOf: file)
        let place = try #require(data.firstRange(of: Data(text.utf8))?.lowerBound)
        let start = place / 4096 * 4096
        data.replaceSubrange(start..<start + 4096, with: Data(repeating: 0xFF, count: 4096))
        try data.write(to: file)
    }

    @Test func soundEntriesOfADamagedFileAreCopied() throws {
        let journal = try Journal(in: folder)
        let entries = (0..<300).map { JournalEntry("entry \($0) " + String(repeating: "x", count: 100)) }
        try journal.append(entries, at: .seconds(0))
        let batch = try #require(try journal.claim(upTo: 5))
        try journal.set("name", "value")
        try journal.close()
        try damagePage(with: "entry 150 ", of: folder.file)
        let (begun, reports) = try open(folder)
        #expect(reports == [.corrupted] && begun.installation != journal.installation)
        let counts = try begun.counts()
        let copied = try #require(counts.waiting[""])
        #expect((250..<300).contains(copied) && counts.lost == [.damaged: 300 - copied])
        #expect(try begun.setting("name") == "value")
        // The batch that was claimed is sent in another stream, and the server recognises the entries by their ids.
        let again = try #require(try begun.claim(upTo: 5))
        #expect(again.ids == batch.ids && again.stream != batch.stream)
        let drained = try begun.drain().map(\.asAppended)
        #expect(drained.count == copied)
        let ids = Set(drained.map(\.id))
        #expect(drained == entries.filter { ids.contains($0.id) })
    }

    @Test func damageThatIsFoundLaterCostsNothingSound() async throws {
        let store = JournalQueue(
            at: folder.file, limits: JournalLimits(), durability: .normal, sealing: nil
        ) { .seconds(0) }
        let isDamaged = Mutex(true)
        try await store.run { journal throws(StorageError) in try journal.append(["a", "b"]) }
        let texts = try await store.run { journal throws(StorageError) in
            if isDamaged.withLock({ $0 }) {
                isDamaged.withLock { $0 = false }
                try journal.write { _ in throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            }
            return try journal.drain().map(\.text)
        }
        #expect(texts == ["a", "b"])
        #expect(store.filesSetAside.count == 1 && store.problem == nil)
        await store.close()
    }

    @Test func damagedStreamIsBegunAnew() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        let batch = try #require(try journal.claim())
        try journal.write { try $0.execute(sql: "UPDATE stream SET number = 77") }
        let again = try #require(try journal.claim())
        #expect(again.stream != batch.stream)
        #expect(again.texts == ["a"])
    }

    @Test func newerSchemaIsSetAsideUnchanged() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        try journal.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        try journal.close()
        let before = try Data(contentsOf: folder.file)
        let (begun, reports) = try open(folder)
        #expect(reports == [.newerSchema])
        #expect(begun.installation != journal.installation)
        #expect(try begun.claim() == nil)
        let name = folder.file.appendingPathExtension("unreadable-1")
        #expect(try Data(contentsOf: name) == before)
    }

    @Test func filesSetAsideAreBounded() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for round in 0..<6 {
            try Data("no database \(round), and longer than a header would be".utf8).write(to: folder.file)
            let (journal, reports) = try open(folder)
            #expect(reports == [.corrupted])
            try journal.close()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(names.filter { $0.contains("unreadable") && !$0.contains("-wal") && !$0.contains("-shm") }.count == 3)
    }

    @Test func renamedFileHasNoLogOfAnother() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        func file(_ ending: String) -> URL { URL(fileURLWithPath: folder.file.path + ending) }
        // The third file has a log, and the second has none.
        for ending in ["", "1", "1-wal", "2", "3", "3-wal"].map({ $0.isEmpty ? "" : ".unreadable-\($0)" }) {
            try Data(ending.utf8).write(to: file(ending))
        }
        #expect(try LockedJournalFile.setAside(folder.file).path == file(".unreadable-1").path)
        func text(_ ending: String) -> String? {
            (try? Data(contentsOf: file(ending))).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(text(".unreadable-3") == ".unreadable-2" && text(".unreadable-3-wal") == nil)
        #expect(text(".unreadable-2") == ".unreadable-1" && text(".unreadable-2-wal") == ".unreadable-1-wal")
        #expect(text(".unreadable-1") == "" && text(".unreadable-1-wal") == nil && text("") == nil)
    }

    @Test func secondOpenerGetsAClearError() throws {
        let journal = try Journal(in: folder)
        #expect { try Journal(in: folder) } throws: { ($0 as? StorageError)?.kind == .locked }
        try journal.append(["a"])
        try journal.close()
        #expect(try Journal(in: folder).claim()?.texts == ["a"])
    }

    #if os(Linux) || os(macOS)
        @Test func fileLockedElsewhereIsNotSetAside() async throws {
            let folder = ScratchFolder()
            let journal = try Journal(in: folder)
            try journal.append(["a"])
            await #expect(processExitsWith: .success) { [path = folder.file.path as String] in
                #expect {
                    let file = try LockedJournalFile(
                        at: URL(fileURLWithPath: path), limits: JournalLimits(), durability: .normal)
                    _ = try file.open(time: .seconds(0)) { _, _ in Issue.record("The file was set aside.") }
                } throws: {
                    ($0 as? StorageError)?.kind == .locked
                }
            }
            try journal.append(["b"])
            #expect(try journal.claim()?.texts == ["a", "b"])
            try journal.close()
        }
    #endif

    @Test func fullDiskStoresNothingAndLosesNothing() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        let pages = try journal.write { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try journal.write { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
        let large = (0..<100).map { JournalEntry("\($0) " + String(repeating: "x", count: 1000)) }
        #expect { try journal.append(large, at: .seconds(0)) } throws: { ($0 as? StorageError)?.kind == .full }
        #expect(try journal.counts().waiting == ["": 1])
        try journal.write { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        try journal.append(large, at: .seconds(0))
        #expect(try journal.drain().map(\.text) == ["a"] + large.map(\.text))
    }

    @Test func fullDiskMovesTheWALAndRetriesOnce() throws {
        let journal = try Journal(in: folder)
        try journal.append((0..<100).map { "\($0) " + String(repeating: "x", count: 1000) })
        func logByteCount() throws -> Int { try Data(contentsOf: URL(filePath: folder.file.path + "-wal")).count }
        #expect(try logByteCount() > 100_000)
        var attempts = 0
        try journal.write { database in
            attempts += 1
            try JournalSetting(name: "attempt", value: "\(attempts)").write(to: database)
            if attempts == 1 { throw DatabaseError(resultCode: .SQLITE_FULL) }
            #expect(try logByteCount() == 0)
        }
        #expect(attempts == 2)
        #expect(try journal.setting("attempt") == "2")
        #expect(try journal.counts().waiting == ["": 100])
        attempts = 0
        #expect {
            try journal.write { _ in
                attempts += 1
                throw DatabaseError(resultCode: .SQLITE_FULL)
            }
        } throws: {
            ($0 as? StorageError)?.kind == .full
        }
        #expect(attempts == 2)
        try journal.close()
    }

    @Test func driveErrorReopensTheFile() async throws {
        let store = JournalQueue(
            at: folder.file, limits: JournalLimits(), durability: .normal, sealing: nil
        ) { .seconds(0) }
        let first = try await store.run { journal throws(StorageError) in
            try journal.append(["a"])
            return journal
        }
        let failed = Mutex<StorageError?>(nil)
        do throws(StorageError) {
            _ = try await store.run { journal throws(StorageError) in
                try journal.append(["b"])
                try journal.write { _ in throw DatabaseError(resultCode: .SQLITE_IOERR) }
            }
        } catch {
            failed.withLock { $0 = error }
        }
        #expect(failed.withLock { $0?.kind } == .unavailable && store.problem?.kind == .unavailable)
        let second = try await store.run { journal throws(StorageError) in
            try journal.append(["c"])
            return journal
        }
        #expect(second !== first && second.installation == first.installation)
        #expect(try second.drain().map(\.text) == ["a", "b", "c"])
        #expect(store.filesSetAside.isEmpty && store.problem == nil)
        await store.close()
    }

    @Test func folderThatIsAFileIsUnavailable() throws {
        try Data("x".utf8).write(to: folder.url)
        #expect { try Journal(in: folder) } throws: { ($0 as? StorageError)?.kind == .unavailable }
    }
}
