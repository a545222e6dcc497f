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
            var operationCount: @Sendable () -> Int = { 0 }
        }

        private let state = Mutex(State())

        var begun: [(name: String, operationCount: Int)] { state.withLock { $0.begun } }
        var ended: [Int] { state.withLock { $0.ended } }

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

        func end(_ token: Int) { state.withLock { $0.ended.append(token) } }
    }

    @Test func logAsksForTimeBeforeItClaims() async throws {
        let recorder = Recorder()
        let fixture = LogFixture(grace: recorder)
        fixture.status.set(.none)
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        recorder.count { [store = log.store] in store.operationCount }
        // No flush beside it: one that has read what waits before this batch was sent would have another one claimed.
        fixture.status.set(.wifi)
        try await waitUntil("the record") { fixture.server.names == ["a"] }
        let begun = recorder.begun
        #expect(begun.map(\.name) == ["ActionLog", "log.ActionLog"])
        // The claim, and the look for an erasure before it.
        let counts = begun.map(\.operationCount)
        #expect(try #require(counts.last) - counts[0] >= 2)
        try await waitUntil("the end of both") { Set(recorder.ended) == [1, 2] }
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
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"])
        let begun = recorder.begun.dropFirst(count)
        #expect(begun.map(\.name) == ["OfflineQueue", "notebook.WriteNote"])
        // The claim, and whether the app has removed the change since.
        let counts = begun.map(\.operationCount)
        #expect(try #require(counts.last) - counts[0] >= 2)
        try await waitUntil("the end of all") { recorder.ended.count == recorder.begun.count }
        await fixture.queue.close()
    }
}
