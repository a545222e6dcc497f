import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// Changes that wait until the events that the app missed have arrived.
@Suite(.timeLimit(.minutes(10)))
struct QueueDelayTests {
    private let owner = UUID()

    /// Stores changes, delays them, and waits until they could be sent.
    private func delay(_ texts: String..., in fixture: QueueFixture) async throws {
        for text in texts { await fixture.write(text) }
        fixture.network.delayChanges(of: Notebook.self, owner: owner, upTo: .seconds(10))
        fixture.status.set(.wifi)
        try await waitUntil("the delay") { fixture.clock.nextDeadline?.offset == .seconds(10) }
        #expect(fixture.server.texts.isEmpty)
    }

    @Test(arguments: [false, true]) func delayedChangesWait(_ isEnded: Bool) async throws {
        let fixture = QueueFixture(status: .none)
        try await delay("a", "b", in: fixture)
        if isEnded {
            fixture.network.delayChanges(of: Notebook.self, owner: owner, upTo: nil)
        } else {
            fixture.clock.advance(by: .seconds(10))
        }
        try await waitUntil("the changes") { fixture.server.texts == ["a", "b"] }
        await fixture.queue.close()
    }

    @Test func flushSendsDelayedChanges() async throws {
        let gate = ScriptedGate()
        let fixture = QueueFixture(NoteServer { change, _ in change.text == "a" ? .held(gate) : nil }, status: .none)
        try await delay("a", "b", in: fixture)
        let flush = Task { await fixture.queue.flush() }
        try await gate.waitForArrivals()
        // Another stream of the account loses its link meanwhile.
        fixture.network.delayChanges(of: Notebook.self, owner: UUID(), upTo: .seconds(10))
        gate.open()
        await flush.value
        #expect(fixture.server.texts == ["a", "b"])
        await fixture.queue.close()
    }

    @Test func delayEndsAfterASignOutToo() async throws {
        let fixture = QueueFixture(status: .none)
        try await fixture.signIn("ada")
        try await delay("a", in: fixture)
        try await fixture.network.signOut(of: Notebook.self)
        fixture.network.delayChanges(of: Notebook.self, owner: owner, upTo: nil)
        try await fixture.signIn("ada")
        try await waitUntil("the change") { fixture.server.texts == ["a"] }
        await fixture.queue.close()
    }
}
