import Foundation
import GRDB
import RunwaySQLite
import Synchronization
import Testing

@testable import RunwayStorage

/// What an erasure does on a disk that is full until the reserve is removed. `FullDiskTests` fill a real one.
struct SpaceReserveTests {
    private let folder = ScratchFolder()
    private var reserve: String { folder.file.path + "-reserve" }

    private func openStore() -> JournalQueue {
        JournalQueue(at: folder.file, limits: JournalLimits(), durability: .normal, sealing: nil) { .seconds(0) }
    }

    private func isThere() -> Bool { FileManager.default.fileExists(atPath: reserve) }

    /// Runs an operation for which the disk is full as long as there is a reserve, and returns how often it was called.
    private func attempt(_ access: JournalQueue.Access, on store: JournalQueue) async -> (Int, StorageError?) {
        let path = reserve
        let attempts = Mutex(0)
        do throws(StorageError) {
            try await store.run(access) { journal throws(StorageError) in
                attempts.withLock { $0 += 1 }
                if FileManager.default.fileExists(atPath: path) {
                    try journal.write { _ in throw DatabaseError(resultCode: .SQLITE_FULL) }
                }
                try journal.erase("ada")
            }
            return (attempts.withLock { $0 }, nil)
        } catch {
            return (attempts.withLock { $0 }, error)
        }
    }

    @Test func erasureOnAFullDiskTakesTheReserve() async throws {
        let store = openStore()
        try await store.run { journal throws(StorageError) in try journal.append(["a"], scope: "ada") }
        #expect(isThere())
        let (attempts, error) = await attempt(.erasing, on: store)
        #expect(attempts == 2 && error == nil && store.problem == nil)
        let counts = try await store.read { journal throws(StorageError) in try journal.counts() }
        #expect(counts.waiting.isEmpty)
        // It is there for the next erasure.
        #expect(isThere())
        await store.close()
    }

    @Test func otherOperationsLeaveTheReserve() async throws {
        let store = openStore()
        try await store.run { journal throws(StorageError) in try journal.append(["a"], scope: "ada") }
        let (attempts, error) = await attempt(.writing, on: store)
        #expect(error?.kind == .full && attempts == 1)
        #expect(isThere())
        await store.close()
    }

    @Test func failedOperationLeavesAReserve() async throws {
        let store = openStore()
        await #expect(throws: StorageError.self) {
            try await store.run { (_: Journal) throws(StorageError) -> Void in
                throw StorageError(.rejected, "It was not accepted.")
            }
        }
        #expect(isThere())
        await store.close()
    }

    @Test func erasureOfADamagedFileTakesTheReserve() async throws {
        let (store, path) = (openStore(), reserve)
        try await store.run { journal throws(StorageError) in try journal.append(["a"], scope: "ada") }
        let attempts = Mutex(0)
        try await store.run(.erasing) { journal throws(StorageError) in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            if attempt == 1 { throw StorageError(.corrupted, "It is damaged.") }
            if FileManager.default.fileExists(atPath: path) { throw StorageError(.full, "There is no space.") }
            try journal.erase("ada")
        }
        #expect(attempts.withLock { $0 } == 3 && store.problem == nil && isThere())
        await store.close()
    }

    @Test func incompleteReserveIsCompletedForItsUserAlone() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        // The process ended while it wrote the file.
        try Data(count: 100).write(to: URL(fileURLWithPath: reserve))
        let store = openStore()
        _ = try await store.read { journal throws(StorageError) in try journal.counts() }
        let attributes = try FileManager.default.attributesOfItem(atPath: reserve)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: reserve)).count == SpaceReserve.byteCount)
        await store.close()
    }

    @Test func interruptedErasureLeavesTheOldestEntries() throws {
        let journal = try Journal(in: folder)
        let oldest = Journal.maximumErasureCount / 2
        let texts = (0..<2 * Journal.maximumErasureCount + oldest).map { "\($0)" }
        try journal.append(texts)
        let batch = try #require(try journal.claim())
        try journal.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER interruption BEFORE DELETE ON entry WHEN OLD.sequence = 1
                    BEGIN SELECT RAISE(ABORT, 'interrupted'); END
                    """)
        }
        #expect(throws: StorageError.self) { try journal.erase("") }
        #expect(try journal.counts().waiting == ["": oldest])
        // The rest of the batch, and what came after it, in a stream of its own.
        let rest = try #require(try journal.claim(upTo: 1000))
        #expect(rest.stream != batch.stream && rest.texts == Array(texts.prefix(oldest)))
        try journal.close()
    }
}
