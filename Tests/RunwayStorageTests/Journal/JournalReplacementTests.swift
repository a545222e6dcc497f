import Foundation
import Synchronization
import Testing

@testable import RunwayStorage

/// Nobody opens a file that is being replaced, and nobody replaces one that may be sound.
struct JournalReplacementTests {
    private let folder = ScratchFolder()

    private func file() throws(StorageError) -> LockedJournalFile {
        try LockedJournalFile(at: folder.file, limits: JournalLimits(), durability: .normal)
    }

    @Test func fileIsLockedBetweenItsTwoNames() throws {
        let file = try file()
        var journal = try file.open(time: .seconds(0)) { _, _ in }
        try journal.append(["a"])
        try journal.close()
        var isRenamed = false
        journal = try file.replace(time: .seconds(0)) { _ in
            isRenamed = true
            #expect { try self.file() } throws: { ($0 as? StorageError)?.kind == .locked }
        }
        #expect(try isRenamed && journal.claim()?.texts == ["a"])
    }

    @Test func storeHoldsTheLockDuringAReplacement() async throws {
        let (url, failures) = (folder.file, Failures())
        // The clocks are read when the file is opened, and when it is replaced.
        let store = JournalQueue(at: url, limits: JournalLimits(), durability: .normal, sealing: nil) {
            do throws(StorageError) {
                _ = try LockedJournalFile(at: url, limits: JournalLimits(), durability: .normal)
                failures.append(nil)
            } catch {
                failures.append(error.kind)
            }
            return .seconds(0)
        }
        let isDamaged = Mutex(true)
        try await store.run { _ throws(StorageError) in
            let wasDamaged = isDamaged.withLock { isDamaged in
                defer { isDamaged = false }
                return isDamaged
            }
            if wasDamaged { throw StorageError(.corrupted, "The file is damaged.") }
        }
        #expect(failures.all == [.locked, .locked] && store.filesSetAside.count == 1)
        await store.close()
        _ = try file()
    }

    /// What attempts to lock a file ended in; `nil` for one that succeeded.
    private final class Failures: Sendable {
        private let kinds = Mutex<[StorageError.Kind?]>([])

        var all: [StorageError.Kind?] { kinds.withLock { $0 } }

        func append(_ kind: StorageError.Kind?) { kinds.withLock { $0.append(kind) } }
    }

    @Test func lockedFileIsNotReplaced() throws {
        let journal = try Journal(in: folder)
        try journal.append(["a"])
        let file = try file()
        // As a process opens it that knows nothing of the lock beside it.
        #expect {
            try file.replace(time: .seconds(0)) { _ in Issue.record("The file was renamed.") }
        } throws: {
            ($0 as? StorageError)?.kind == .locked
        }
        #expect(try journal.claim()?.texts == ["a"])
    }
}
