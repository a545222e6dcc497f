import Foundation
import GRDB
import HTTPTypes
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// A call is on disk before it is sent, and until it has ended.
@Suite(.timeLimit(.minutes(10)))
struct WriteAheadTests {
    private func entries(_ fixture: QueueFixture) async throws -> [JournalEntry] {
        try await fixture.queue.parts().journal.run(.reading) { file throws(StorageError) in try file.entries() }
    }

    /// A queue whose server works on a change "a".
    private func fixture(_ gate: ScriptedGate) -> QueueFixture {
        QueueFixture(NoteServer { item, _ in item.text == "a" ? .held(gate) : nil })
    }

    @Test func callInFlightIsOnDiskUnseen() async throws {
        let gate = ScriptedGate()
        let fixture = fixture(gate)
        let call = Task { await fixture.write("a") }
        try await gate.waitForArrivals()
        let placed = try await entries(fixture)
        #expect(placed.map(\.state) == [.ahead])
        let change = try #require(placed.first.flatMap { StoredChange($0) })
        #expect("\"\(change.key.uuidString.lowercased())\"" == fixture.server.received.first?.key)
        #expect(try await fixture.queue.changes().isEmpty && fixture.queue.currentState.waitingCount == 0)
        // It holds up no other call, and is not sent by the queue.
        #expect(await fixture.write("b") == nil)
        await fixture.queue.flush()
        #expect(fixture.server.received.count == 2)
        gate.open()
        #expect(await call.value == nil)
        try await waitUntil("the removal") { try await entries(fixture).isEmpty }
        #expect(fixture.server.texts == ["b", "a"] && fixture.results.all.isEmpty)
        await fixture.queue.close()
    }

    @Test func interruptedCallIsSentWithItsKey() async throws {
        let fixture = QueueFixture(status: .none)
        var change = try fixture.queue.parts().link.assemble(WriteNote("a"))
        change.mayHaveBeenSent = true
        let folder = ScratchFolder()
        let journal = ChangeJournal(at: folder.file, OfflineQueueOptions(), time: { .seconds(0) }, onChange: {})
        _ = try await journal.writeAhead(change, try #require(change.flight), at: Date())
        await journal.close()
        let next = QueueFixture(in: folder, status: .none)
        try await waitUntil("the file") { next.queue.currentState.waitingCount == 1 }
        #expect(try await next.states() == ["a sending"])
        next.status.set(.wifi)
        try await next.drain()
        #expect(next.results.all == ["a done"])
        #expect(next.server.received.map(\.key) == ["\"\(change.key.uuidString.lowercased())\""])
        await next.queue.close()
        await fixture.queue.close()
    }

    @Test func commitsWaitForTheDriveAfterARemoval() async throws {
        let fixture = QueueFixture { $0.survivesPowerLoss = true }
        #expect(await fixture.write("a") == nil)
        try await waitUntil("the removal") { try await entries(fixture).isEmpty }
        let level = try await fixture.queue.parts().journal.run { file throws(StorageError) in
            try file.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        }
        #expect(level == 2)
        await fixture.queue.close()
    }

    @Test func ownFailureOfACallLeavesNothing() async throws {
        let fixture = QueueFixture(NoteServer { _, _ in .status(403) })
        #expect(await fixture.write("a")?.status?.code == 403)
        try await waitUntil("the removal") { try await entries(fixture).isEmpty }
        await fixture.queue.close()
    }

    @Test func cancelledCallLeavesNothing() async throws {
        let gate = ScriptedGate()
        let fixture = fixture(gate)
        let call = Task { await fixture.write("a") }
        try await gate.waitForArrivals()
        call.cancel()
        #expect(await call.value?.kind == .cancelled)
        try await waitUntil("the removal") { try await entries(fixture).isEmpty }
        gate.open()
        await fixture.queue.close()
    }

    @Test func erasedChangeIsNotStoredByItsCall() async throws {
        let gate = ScriptedGate()
        let fixture = fixture(gate)
        let call = Task { await fixture.write("a") }
        try await gate.waitForArrivals()
        try await fixture.queue.erase(account: nil)
        fixture.clock.advance(by: .seconds(600))
        #expect(await call.value?.kind == .storage)
        #expect(try await entries(fixture).isEmpty)
        gate.open()
        await fixture.queue.close()
    }

    @Test func failedCallKeepsThePlaceOfItsStart() async throws {
        let gate = ScriptedGate()
        let fixture = fixture(gate)
        let call = Task { await fixture.write("a") }
        try await gate.waitForArrivals()
        fixture.status.set(.none)
        #expect(await fixture.write("b")?.kind == .queued)
        fixture.clock.advance(by: .seconds(600))
        #expect(await call.value?.kind == .queued)
        #expect(try await fixture.states() == ["a sending", "b waiting"])
        gate.open()
        await fixture.queue.close()
    }

    @Test func changesInFlightCountTowardsTheBounds() async throws {
        let gate = ScriptedGate()
        let fixture = QueueFixture(NoteServer { item, _ in item.text == "a" ? .held(gate) : nil }) {
            $0.maximumCount = 1
        }
        let call = Task { await fixture.write("a") }
        try await gate.waitForArrivals()
        // Sent without being stored before: a full queue is no reason not to send.
        #expect(await fixture.write("b") == nil)
        #expect(try await entries(fixture).count == 1)
        gate.open()
        #expect(await call.value == nil)
        await fixture.queue.close()
    }
}
