import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// Changes to which no response of the service comes: its backend crashes or hangs, or it is down.
@Suite(.timeLimit(.minutes(10)))
struct ChangeLossTests {
    /// Sends what waits, past every backoff, until a condition holds.
    private func drain(_ fixture: QueueFixture, until condition: () async throws -> Bool) async throws {
        // Hundreds of attempts, each of which writes to the file.
        try await waitUntil("the server to be done", within: .seconds(500)) {
            await fixture.queue.flush()
            return try await condition()
        } meanwhile: {
            fixture.clock.advance(by: .seconds(601))
        }
    }

    @Test(arguments: [502, 504]) func changeWithoutResponseIsHandedToTheApp(_ status: Int) async throws {
        let isWell = Flag(false)
        let fixture = QueueFixture(
            NoteServer { item, _ in item.text == "poison" && !isWell.isOn ? .status(status) : nil }, status: .none)
        await fixture.write("poison", "note")
        await fixture.write("comment", "note")
        for text in ["a", "b", "c", "d"] { await fixture.write(text) }
        fixture.status.set(.wifi)
        try await drain(fixture) { fixture.queue.currentState.waitingCount == 0 }
        #expect(fixture.server.texts == ["a", "b", "c", "d"])
        #expect(try await fixture.states() == ["poison expired", "comment held"])
        #expect(Set(fixture.results.all) == ["a done", "b done", "c done", "d done", "poison expired"])
        let attempts = fixture.server.received.filter { $0.text == "poison" }
        #expect(attempts.count >= 20 && Set(attempts.map(\.key)).count == 1)
        // The server may have taken it: a retry has the same key, and an edit would be another change.
        let change = try #require(try await fixture.queue.changes().first)
        await #expect(throws: StorageError.self) { try await fixture.queue.edit(change.id, to: WriteNote("else")) }
        isWell.isOn = true
        try await fixture.queue.retry([change.id])
        try await drain(fixture) { fixture.queue.currentState.waitingCount == 0 }
        #expect(fixture.server.texts.suffix(2) == ["poison", "comment"])
        #expect(Set(fixture.server.received.filter { $0.text == "poison" }.map(\.key)).count == 1)
        await fixture.queue.close()
    }

    @Test func serverThatIsDownHasNothingSetAside() async throws {
        let isWell = Flag(false)
        let fixture = QueueFixture(NoteServer { _, _ in isWell.isOn ? nil : .status(502) }, status: .none)
        for number in 0..<6 { await fixture.write("\(number)") }
        fixture.status.set(.wifi)
        try await drain(fixture) { fixture.server.received.count > 100 }
        #expect(Set(fixture.server.received.map(\.text)).count > 2)
        let state = fixture.queue.currentState
        #expect(state.waitingCount == 6 && state.undecidedCount == 0 && fixture.results.all.isEmpty)
        isWell.isOn = true
        try await drain(fixture) { fixture.queue.currentState.waitingCount == 0 }
        #expect(fixture.server.texts.sorted() == (0..<6).map { "\($0)" })
        #expect(Set(fixture.server.received.map(\.key)).count == 6)
        await fixture.queue.close()
    }

    @Test func attemptsDoNotRenewAChangesAge() async throws {
        let fixture = QueueFixture(NoteServer { _, _ in .status(502) }, status: .none) {
            $0.maximumAge = .seconds(86_400)
        }
        await fixture.write("a")
        await fixture.write("b")
        fixture.status.set(.wifi)
        try await drain(fixture) { fixture.queue.currentState.undecidedCount == 2 }
        #expect(try await fixture.states() == ["a expired", "b expired"])
        // A day of attempts every ten minutes: no attempt has made them younger.
        #expect(fixture.server.received.count < 200)
        await fixture.queue.close()
    }

    @Test func writeAheadLogIsWatched() async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("a")
        #expect(fixture.queue.currentState.logByteCount > 0)
        await fixture.queue.close()
    }
}
