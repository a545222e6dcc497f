import Foundation
import GRDB
import HTTPTypes
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// What the queue does with bounds, and with a disk that fails.
@Suite(.timeLimit(.minutes(10)))
struct OfflineQueueDiskTests {
    private func problem(_ error: NetworkError?) -> StorageError.Kind? { (error?.underlying as? StorageError)?.kind }

    @Test func fullQueueRefusesAndRemovesNothing() async throws {
        let fixture = QueueFixture(status: .none) { $0.maximumCount = 2 }
        await fixture.write("a")
        await fixture.write("b")
        let error = await fixture.write("c")
        #expect(error?.kind == .storage && problem(error) == .full)
        #expect(error?.detail.contains("no room") == true)
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(fixture.server.texts == ["a", "b"])
        #expect(await fixture.write("d") == nil)
        await fixture.queue.close()
    }

    @Test func bytesAreBounded() async throws {
        let fixture = QueueFixture(status: .none) { $0.maximumByteCount = 3000 }
        let text = String(repeating: "x", count: 500)
        var stored = 0
        for _ in 0..<5 where await fixture.write(text)?.kind == .queued { stored += 1 }
        #expect((1...2).contains(stored))
        #expect(try await fixture.queue.changes().map(\.byteCount).reduce(0, +) <= 3000)
        await fixture.queue.close()
    }

    @Test func oversizedChangeIsRefused() async throws {
        let fixture = QueueFixture(status: .none) { $0.maximumChangeByteCount = 2000 }
        #expect(problem(await fixture.write(String(repeating: "x", count: 3000))) == .rejected)
        #expect(await fixture.write("small")?.kind == .queued)
        await fixture.queue.close()
    }

    @Test func folderThatCannotBeWrittenFailsTheCall() async throws {
        let folder = ScratchFolder()
        try Data("a file where the folder should be".utf8).write(to: folder.url)
        let fixture = QueueFixture(in: folder, status: .none)
        #expect(problem(await fixture.write("a")) == .unavailable)
        #expect(fixture.queue.currentState.problem?.kind == .unavailable)
        fixture.status.set(.wifi)
        // The queue is no reason not to send.
        #expect(await fixture.write("b") == nil)
        fixture.status.set(.none)
        try FileManager.default.removeItem(at: folder.url)
        #expect(await fixture.write("c")?.kind == .queued)
        await fixture.queue.close()
    }

    @Test func fullDiskFailsTheCallAndRemovesNothing() async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("a")
        try await fixture.queue.parts().journal.run { journal throws(StorageError) in
            try journal.write { database in
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                try database.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
        }
        #expect(problem(await fixture.write(String(repeating: "x", count: 100_000))) == .full)
        #expect(fixture.queue.currentState.problem?.kind == .full)
        // Reading succeeds, and does not end the problem; nor does what the app asks for in vain.
        #expect(try await fixture.queue.changes().count == 1)
        try await fixture.queue.discard([UUID()])
        await #expect(throws: StorageError.self) { try await fixture.queue.edit(UUID(), to: WriteNote("b")) }
        await fixture.queue.flush()
        #expect(fixture.queue.currentState.problem?.kind == .full)
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"] && fixture.queue.currentState.problem == nil)
        await fixture.queue.close()
    }

    @Test func endOfAProblemIsNotified() async throws {
        let notifications = Mutex(0)
        let folder = ScratchFolder()
        let journal = ChangeJournal(at: folder.file, OfflineQueueOptions(), time: { .seconds(0) }) {
            notifications.withLock { $0 += 1 }
        }
        try await journal.run { _ throws(StorageError) in }
        let (failure, success) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // A wait that fails below leaves no thread blocked.
        defer {
            failure.signal()
            success.signal()
        }
        let (operations, former) = (journal.store.operationCount, notifications.withLock { $0 })
        let failing = Task {
            try await journal.run { (_: Journal) throws(StorageError) -> Void in
                failure.wait()
                throw StorageError(.full, "There is no space.")
            }
        }
        try await waitUntil("the operation that fails") { journal.store.operationCount == operations + 1 }
        // It begins before the problem, and ends it.
        let succeeding = Task {
            try await journal.run { (file: Journal) throws(StorageError) -> Void in
                success.wait()
                try file.set("name", "value")
            }
        }
        try await waitUntil("the operation that succeeds") { journal.store.operationCount == operations + 2 }
        failure.signal()
        await #expect(throws: StorageError.self) { try await failing.value }
        #expect(journal.queueState.problem?.kind == .full && notifications.withLock { $0 } == former + 1)
        success.signal()
        try await succeeding.value
        #expect(journal.queueState.problem == nil && notifications.withLock { $0 } == former + 2)
        await journal.close()
    }

    @Test func nothingIsReadFromDiskDuringRetryAfter() async throws {
        let server = NoteServer { _, count in count == 0 ? .status(503, retryAfter: 3600) : nil }
        let fixture = QueueFixture(server) { $0.maximumAge = .seconds(1500) }
        #expect(await fixture.write("a")?.kind == .queued)
        #expect(await fixture.write("b")?.kind == .queued)
        await fixture.queue.flush()
        let store = try fixture.queue.parts().journal.store
        let count = store.operationCount
        for _ in 0..<5 {
            // The timer, and what the app asks for.
            fixture.clock.advance(by: .seconds(301))
            await fixture.queue.flush()
        }
        #expect(store.operationCount == count && fixture.results.all.isEmpty)
        fixture.clock.advance(by: .seconds(2200))
        // What was due before is done first: the second change was never sent.
        try await waitUntil("the end of their time") { Set(fixture.results.all) == ["a expired", "b expired"] }
        #expect(server.received.count == 1)
        await fixture.queue.close()
    }

    @Test(arguments: [false, true]) func retryAfterHoldsInTheNextRun(isReplay: Bool) async throws {
        let server = NoteServer { _, count in count == 0 ? .status(503, retryAfter: 3600) : nil }
        let first = QueueFixture(server, status: isReplay ? .none : .wifi)
        #expect(await first.write("a")?.kind == .queued)
        first.status.set(.wifi)
        await first.queue.flush()
        #expect(server.received.count == 1)
        await first.queue.close()
        let second = QueueFixture(server, in: first.folder)
        await second.queue.flush()
        #expect(server.received.count == 1)
        second.clock.advance(by: .seconds(3601))
        try await waitUntil("the change") { server.texts == ["a"] }
        try await second.drain()
        // The server's wait is over, and nothing of it stays in the file.
        let pauses = try await second.queue.parts().journal.pauses()
        #expect(pauses == [:])
        await second.queue.close()
    }

    @Test func erasureRemovesTheWaitOfAnAccount() async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("a")
        let journal = try fixture.queue.parts().journal
        let scope = ChangeScope(service: "notebook", environment: "release", account: "ada").text
        try await journal.run { file throws(StorageError) in
            // As an earlier version may have left them, of an account without changes.
            for prefix in [Journal.pausesPrefix, Journal.lossesPrefix] { try file.set(prefix + scope, "damaged") }
            let entry = JournalEntry("sent", scope: scope)
            try file.append([entry], at: .seconds(0))
            if let batch = try file.claim(scope) { try file.acknowledge(batch, [entry.id]) }
        }
        try await journal.erase(account: "ada") { #expect($0.isEmpty) }
        let scopes = try await journal.run { file throws(StorageError) in try file.scopesBesideEntries() }
        #expect(scopes.isEmpty)
        #expect(try await fixture.states() == ["a waiting"])
        await fixture.queue.close()
    }

    @Test func attemptAfterAnErasureStoresNothing() async throws {
        let fixture = QueueFixture(status: .none)
        try await fixture.signIn("ada")
        #expect(await fixture.write("a")?.kind == .queued)
        let journal = try fixture.queue.parts().journal
        let scope = ChangeScope(service: "notebook", environment: "release", account: "ada").text
        let claim = try #require(try await journal.claim(scope))
        try await journal.erase(account: "ada") { #expect($0 == [claim.id]) }
        // The attempt ends after the erasure.
        try await journal.setPause(of: scope, .seconds(60))
        #expect(try await !journal.noteLoss(claim))
        let scopes = try await journal.run { file throws(StorageError) in try file.scopesBesideEntries() }
        #expect(scopes.isEmpty)
        await fixture.queue.close()
    }

    @Test func interruptedErasureReportsWhatItRemoved() async throws {
        let fixture = QueueFixture(status: .none)
        // The oldest is in a transaction of its own.
        for _ in 0..<3 { await fixture.write(String(repeating: "x", count: 300_000)) }
        let ids = try await fixture.queue.changes().map(\.id)
        #expect(ids.count == 3)
        try await fixture.execute(
            """
            CREATE TRIGGER interruption BEFORE DELETE ON entry
            WHEN NOT EXISTS (SELECT 1 FROM entry WHERE sequence < OLD.sequence) \(QueueFixture.failure)
            """)
        let removed = Mutex<Set<UUID>>([])
        await #expect(throws: StorageError.self) {
            try await fixture.queue.parts().journal.erase(account: nil) { ids in removed.withLock { $0 = ids } }
        }
        #expect(removed.withLock { $0 } == Set(ids.dropFirst()))
        #expect(fixture.queue.currentState.waitingCount == 1)
        await fixture.queue.close()
    }

    /// As SQLite reports a file that nobody can open or read while the device is locked.
    @Test(arguments: [ResultCode.SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_IOERR_READ, .SQLITE_IOERR_AUTH, .SQLITE_AUTH])
    func lockedDevicesFileIsNotSetAside(_ code: ResultCode) async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("a")
        let journal = try fixture.queue.parts().journal
        let file = fixture.folder.file
        await #expect {
            try await journal.run { (_: Journal) throws(StorageError) -> Void in
                throw StorageError(DatabaseError(resultCode: code), at: file)
            }
        } throws: {
            ($0 as? StorageError)?.kind == .unavailable
        }
        // The device is unlocked.
        #expect(await fixture.write("b")?.kind == .queued)
        let state = fixture.queue.currentState
        #expect(state.unreadableFiles.isEmpty && state.damagedCount == 0)
        #expect(try await fixture.states() == ["a waiting", "b waiting"])
        await fixture.queue.close()
    }

    @Test func unopenableFileIsNotSetAside() async throws {
        let folder = ScratchFolder()
        // SQLite reports SQLITE_CANTOPEN.
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: true)
        let fixture = QueueFixture(in: folder, status: .none)
        #expect(problem(await fixture.write("a")) == .unavailable)
        #expect(fixture.queue.currentState.unreadableFiles.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(Set(names) == ["log.sqlite", "log.sqlite-lock"])
        await fixture.queue.close()
    }

    @Test func secondQueueOfAFileIsLocked() async throws {
        let first = QueueFixture(status: .none)
        await first.write("a")
        let second = QueueFixture(in: first.folder, status: .none)
        #expect(problem(await second.write("b")) == .locked)
        await first.queue.close()
        #expect(await second.write("c")?.kind == .queued)
        #expect(try await second.states() == ["a waiting", "c waiting"])
        await second.queue.close()
    }

    @Test func damagedFileIsSetAsideAndReported() async throws {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("this is no database, and long enough for a header of one".utf8).write(to: folder.file)
        let fixture = QueueFixture(in: folder, status: .none)
        #expect(await fixture.write("a")?.kind == .queued)
        #expect(fixture.queue.currentState.unreadableFiles.count == 1)
        await fixture.queue.close()
    }

    @Test func laterVersionsChangeIsSkippedUntilReadable() async throws {
        let first = QueueFixture(status: .none)
        await first.write("later")
        await first.write("known")
        await first.queue.close()
        let payload = try rewrite(0, in: first.folder, as: Array(#"{"version":9}"#.utf8))
        let second = QueueFixture(first.server, in: first.folder)
        try await second.drain()
        #expect(first.server.texts == ["known"])
        let changes = try await second.queue.changes()
        #expect(changes.map(\.state) == [.refused] && changes.map(\.endpoint) == [""])
        #expect(changes.map(\.service) == ["notebook"])
        try await second.queue.retry(Set(changes.map(\.id)))
        #expect(second.queue.currentState.undecidedCount == 1)
        await second.queue.close()
        // The app was updated.
        _ = try rewrite(0, in: first.folder, as: payload)
        let third = QueueFixture(first.server, in: first.folder)
        try await third.drain()
        #expect(first.server.texts == ["known", "later"])
        await third.queue.close()
    }

    /// Replaces the payload of a change in a closed file, and returns the former one.
    private func rewrite(_ index: Int, in folder: ScratchFolder, as payload: [UInt8]) throws -> [UInt8] {
        let journal = try Journal(in: folder)
        defer { try? journal.close() }
        let placed = try journal.entries()[index]
        try journal.replace(placed, with: payload, .seconds(0))
        // Where a change was set aside, it stays so.
        if placed.state == .setAside { try journal.place([placed.id: placed.reason]) }
        return placed.payload
    }

    @Test func damagedChangeIsNeverSent() async throws {
        let first = QueueFixture(status: .none)
        await first.write("first")
        await first.write("second")
        await first.queue.close()
        var bytes = try Data(contentsOf: first.folder.file)
        let range = try #require(bytes.firstRange(of: Data("WriteNote".utf8)))
        bytes[range.lowerBound] ^= 1
        try bytes.write(to: first.folder.file)
        let second = QueueFixture(first.server, in: first.folder)
        try await waitUntil("the sound change") { first.server.texts.count == 1 }
        try await second.drain()
        #expect(second.queue.currentState.damagedCount == 1)
        #expect(first.server.received.count == 1)
        await second.queue.close()
    }
}
