import Foundation
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// The system's time in the background is taken before anything is read that is sent then.
@Suite(.timeLimit(.minutes(10)))
struct StorageGraceTests {
    /// Records what was asked for, and how often a file had been used by then.
    private final class Recorder: BackgroundGrace {
        private struct State {
            var begun: [(name: String, operationCount: Int)] = []
            var ended: [Int] = []
            /// How often the last time that was held ended.
            var idleCount = 0
            var operationCount: @Sendable () -> Int = { 0 }
        }

        private let state = Mutex(State())

        var begun: [(name: String, operationCount: Int)] { state.withLock { $0.begun } }
        var isIdle: Bool { state.withLock { $0.ended.count == $0.begun.count } }
        var idleCount: Int { state.withLock { $0.idleCount } }

        func count(_ operationCount: @escaping @Sendable () -> Int) {
            state.withLock { $0.operationCount = operationCount }
        }

        func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int? {
            let count = state.withLock { $0.operationCount }()
            return state.withLock { state in
                state.begun.append((name, count))
                return state.begun.count
            }
        }

        func end(_ token: Int) {
            state.withLock { state in
                state.ended.append(token)
                if state.ended.count == state.begun.count { state.idleCount += 1 }
            }
        }
    }

    @Test func logAsksForTimeBeforeItClaims() async throws {
        let recorder = Recorder()
        let fixture = LogFixture(grace: recorder)
        fixture.status.set(.none)
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        let count = recorder.begun.count
        recorder.count { [store = log.store] in store.operationCount }
        // No flush beside it: one that has read what waits before this batch was sent would have another one claimed.
        fixture.status.set(.wifi)
        try await waitUntil("the record") { fixture.server.names == ["a"] }
        let begun = recorder.begun.dropFirst(count)
        #expect(begun.map(\.name) == ["ActionLog", "log.ActionLog"])
        // The claim, and the look for an erasure before it.
        let counts = begun.map(\.operationCount)
        #expect(try #require(counts.last) - counts[0] >= 2)
        try await waitUntil("the end of both") { recorder.isIdle }
        await log.close()
    }

    @Test func flushHoldsTimeUntilItReturns() async throws {
        let recorder = Recorder()
        let fixture = LogFixture(grace: recorder)
        let log = fixture.open {
            $0.gap = .milliseconds(20)
            // Each record is a batch.
            $0.maximumBatchByteCount = 1
        }
        // What waits at launch is sent. The records come later.
        await log.flush()
        for name in ["a", "b"] { log.record(name) }
        try await log.record("c").committed()
        let (count, idleCount, operationCount) = (recorder.begun.count, recorder.idleCount, log.store.operationCount)
        recorder.count { [store = log.store] in store.operationCount }
        let flush = Task { await log.flush() }
        try await waitUntil("the records") {
            fixture.server.batches.map(\.names) == [["a"], ["b"], ["c"]]
        } meanwhile: {
            fixture.clock.advance(by: .milliseconds(20))
        }
        await flush.value
        // Before anything is read.
        #expect(recorder.begun[count].operationCount == operationCount)
        try await waitUntil("the end of all") { recorder.isIdle }
        #expect(recorder.idleCount == idleCount + 1)
        await log.close()
    }

    @Test(arguments: [true, false]) func erasureOfALogHoldsTime(isOptOut: Bool) async throws {
        let recorder = Recorder()
        let fixture = LogFixture(grace: recorder)
        let log = fixture.open()
        await log.flush()
        let (count, operationCount) = (recorder.begun.count, log.store.operationCount)
        recorder.count { [store = log.store] in store.operationCount }
        if isOptOut {
            try await log.setOptedOut(true)
        } else {
            try await log.erase(account: "")
        }
        #expect(recorder.begun.dropFirst(count).map(\.name) == ["ActionLog"])
        // Before anything is removed.
        #expect(recorder.begun.last?.operationCount == operationCount && recorder.isIdle)
        await log.close()
    }

    @Test func erasureOfAQueueHoldsTime() async throws {
        let recorder = Recorder()
        let fixture = QueueFixture(status: .none, grace: recorder)
        try await fixture.queue.erase(account: nil)
        #expect(recorder.begun.map(\.name) == ["OfflineQueue"] && recorder.isIdle)
        await fixture.queue.close()
    }

    @Test func timeIsHeldBetweenBatches() async throws {
        let recorder = Recorder()
        let fixture = LogFixture(grace: recorder)
        fixture.status.set(.none)
        let log = fixture.open {
            $0.gap = .milliseconds(20)
            $0.maximumBatchByteCount = 1
        }
        for name in ["a", "b"] { log.record(name) }
        try await log.record("c").committed()
        fixture.status.set(.wifi)
        try await waitUntil("the records") {
            fixture.server.names == ["a", "b", "c"]
        } meanwhile: {
            fixture.clock.advance(by: .milliseconds(20))
        }
        try await waitUntil("the end of all") { recorder.isIdle }
        // For each batch the system is asked anew, and before the former time ends.
        #expect(recorder.begun.filter { $0.name == "ActionLog" }.count == 3 && recorder.idleCount == 1)
        await log.close()
    }

    @Test func queueAsksForTimeBeforeItClaims() async throws {
        let recorder = Recorder()
        let fixture = QueueFixture(status: .none, grace: recorder)
        await fixture.write("a")
        let count = recorder.begun.count
        let store = try fixture.queue.parts().journal.store
        recorder.count { store.operationCount }
        fixture.status.set(.wifi)
        try await waitUntil("the change") { fixture.server.texts == ["a"] }
        let begun = recorder.begun.dropFirst(count)
        #expect(begun.map(\.name) == ["OfflineQueue", "notebook.WriteNote"])
        // Only the claim uses the file before the call.
        let counts = begun.map(\.operationCount)
        #expect(try #require(counts.last) - counts[0] == 1)
        try await waitUntil("the end of all") { recorder.isIdle }
        await fixture.queue.close()
    }

    @Test func flushOfAQueueAsksForTime() async throws {
        let recorder = Recorder()
        let fixture = QueueFixture(grace: recorder)
        await fixture.queue.flush()
        #expect(recorder.begun.map(\.name) == ["OfflineQueue"] && recorder.isIdle)
        await fixture.queue.close()
    }

    @Test func timeIsHeldBetweenChanges() async throws {
        let recorder = Recorder()
        let fixture = QueueFixture(status: .none, grace: recorder) { $0.gap = .milliseconds(50) }
        let texts = ["a", "b", "c"]
        for text in texts { await fixture.write(text) }
        try await waitUntil("the end of the calls") { recorder.isIdle }
        let (count, idleCount) = (recorder.begun.count, recorder.idleCount)
        fixture.status.set(.wifi)
        try await waitUntil("the changes") {
            fixture.server.texts == texts
        } meanwhile: {
            fixture.clock.advance(by: .milliseconds(50))
        }
        try await waitUntil("the end of all") { recorder.isIdle }
        #expect(recorder.begun.dropFirst(count).filter { $0.name == "OfflineQueue" }.count == 3)
        #expect(recorder.idleCount == idleCount + 1)
        await fixture.queue.close()
    }
}
