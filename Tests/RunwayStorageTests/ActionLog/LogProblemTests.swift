import Foundation
import GRDB
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// What a log reports of a disk that it can't write.
@Suite(.timeLimit(.minutes(10)))
struct LogProblemTests {
    /// Bounds the size of the file; with `nil`, to its present size.
    private func limitPages(of log: ActionLog, to count: Int?) async throws {
        try await log.store.run { journal throws(StorageError) in
            try journal.write { database in
                let pages = try count ?? Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                try database.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
        }
    }

    @Test func fullDiskIsReportedUntilAWriteSucceeds() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        try await log.record("a").committed()
        #expect(await log.currentState.problem == nil)
        try await limitPages(of: log, to: nil)
        let receipt = log.record("b", ["text": .string(String(repeating: "x", count: 20_000))])
        do throws(StorageError) {
            try await receipt.committed()
            Issue.record("The disk was not full.")
        } catch {
            #expect(error.kind == .full)
        }
        // Reading succeeds, and does not end the problem.
        for _ in 0..<3 { #expect(await log.currentState.problem?.kind == .full) }
        #expect(try await log.refusedRecords().isEmpty)
        await log.flush()
        try await limitPages(of: log, to: 1_000_000)
        #expect(await log.currentState.problem?.kind == .full)
        try await log.record("c").committed()
        let state = await log.currentState
        #expect(state.problem == nil && state.waitingCount == 3 && state.bufferedCount == 0)
        await log.close()
    }

    @Test func commitThatACloseEndsFails() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open { $0.maximumBufferedCount = 3000 }
        try await log.record("first").committed()
        try await limitPages(of: log, to: nil)
        // More than one commit writes, and the first fails.
        let receipts = (0..<2500).map {
            log.record("\($0)", ["text": .string(String(repeating: "x", count: $0 == 0 ? 20_000 : 200))])
        }
        await log.close()
        for receipt in [receipts[0], receipts[2499]] {
            await #expect(throws: StorageError.self) { try await receipt.committed() }
        }
        let second = fixture.open()
        #expect(await second.currentState.waitingCount == 1)
        await second.close()
    }

    @Test func recordsThatACloseAbandonsAreCounted() async throws {
        let buffer = RecordBuffer(ActionLogOptions(), clock: .system)
        let receipts = (0..<3).map { buffer.add("\($0)", [:], .normal, account: "") }
        buffer.abandon()
        #expect(buffer.lost == [.memory: 3] && buffer.count == 0)
        for receipt in receipts { await #expect(throws: StorageError.self) { try await receipt.committed() } }
    }

    @Test func recordAfterTheCloseIsCounted() {
        let buffer = RecordBuffer(ActionLogOptions(), clock: .system)
        buffer.finish()
        _ = buffer.add("late", [:], .normal, account: "")
        #expect(buffer.lost == [.rejected: 1] && buffer.count == 0)
    }

    @Test func closedLogLeavesItsFileFree() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        try await log.record("a").committed()
        await log.close()
        let state = await log.currentState
        #expect(state.problem?.kind == .unavailable && state.waitingCount == 0)
        try Journal(in: fixture.folder).close()
    }

    @Test func stateOfALockedFileCountsMemory() async throws {
        let fixture = LogFixture()
        let other = try Journal(in: fixture.folder)
        let log = fixture.open { $0.maximumBufferedCount = 1 }
        for name in ["a", "b"] {
            await #expect(throws: StorageError.self) { try await log.record(name).committed() }
        }
        let state = await log.currentState
        #expect(state.problem?.kind == .locked)
        #expect(state.bufferedCount == 1 && state.lost == [.memory: 1])
        try other.close()
        await log.flush()
        #expect(fixture.server.names == ["b"])
        #expect(await log.currentState.problem == nil)
        await log.close()
    }

    @Test func problemEndsWhenTheFileIsReadableAgain() async throws {
        let fixture = LogFixture()
        let store = JournalQueue(
            at: fixture.folder.file, limits: JournalLimits(), durability: .normal, sealing: nil
        ) { .seconds(0) }
        let other = try Journal(in: fixture.folder)
        do throws(StorageError) {
            _ = try await store.read { journal throws(StorageError) in try journal.counts() }
            Issue.record("The file was not locked.")
        } catch {
            #expect(store.problem == error && error.kind == .locked)
        }
        try other.close()
        _ = try await store.read { journal throws(StorageError) in try journal.counts() }
        #expect(store.problem == nil)
        await store.close()
    }
}
