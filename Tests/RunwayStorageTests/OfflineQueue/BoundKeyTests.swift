import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// A change that may have been sent has its key until a response shows how the server processed that.
@Suite(.timeLimit(.minutes(10)))
struct BoundKeyTests {
    /// A change whose first attempt had its effect and lost its response, and whose second one something ahead of the
    /// lookup refuses.
    private func refused(_ failure: NoteServer.Failure, first: NoteServer.Failure = .lostResponse) async throws
        -> QueueFixture
    {
        let server = NoteServer { _, count in count == 0 ? first : count == 1 ? failure : nil }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a", "note")
        fixture.status.set(.wifi)
        try await fixture.drain()
        return fixture
    }

    @Test(arguments: [400, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 421, 422, 426, 428, 431, 451])
    func refusalAfterALostResponseKeepsTheKey(_ status: Int) async throws {
        let first = try await refused(.status(status))
        #expect(first.results.all == ["a uncertain"])
        await first.queue.close()
        // In a later run, too.
        let fixture = QueueFixture(first.server, in: first.folder)
        try await fixture.drain()
        #expect(try await fixture.states() == ["a uncertain"])
        let change = try #require(try await fixture.queue.changes().first)
        await #expect(throws: StorageError.self) { try await fixture.queue.edit(change.id, to: WriteNote("b", "note")) }
        try await fixture.queue.retry([change.id])
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"] && fixture.results.all == ["a done"])
        #expect(Set(fixture.server.received.map(\.key)).count == 1)
        await fixture.queue.close()
    }

    @Test func uncertainChangeMayHaveAnEffect() async throws {
        let fixture = try await refused(.status(403))
        let change = try #require(try await fixture.queue.changes().first)
        #expect(try await !fixture.queue.cancel(change.id))
        #expect(try await fixture.queue.changes().isEmpty)
        await fixture.queue.close()
    }

    @Test func uncertainChangeHoldsDependents() async throws {
        let fixture = try await refused(.status(403))
        #expect(await fixture.write("b", "note")?.kind == .queued)
        #expect(try await fixture.states() == ["a uncertain", "b held"])
        try await fixture.queue.retry(Set(try await fixture.queue.changes().map(\.id)))
        try await fixture.drain()
        #expect(fixture.server.texts == ["a", "b"])
        await fixture.queue.close()
    }

    @Test func replayedRefusalFreesTheKey() async throws {
        let fixture = try await refused(.response(410, isReplayed: true), first: .status(503))
        #expect(try await fixture.states() == ["a refused"])
        let change = try #require(try await fixture.queue.changes().first)
        try await fixture.queue.retry([change.id])
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"] && Set(fixture.server.received.map(\.key)).count == 2)
        await fixture.queue.close()
    }

    @Test func replayedRefusalCanBeEdited() async throws {
        let fixture = try await refused(.response(412, isReplayed: true), first: .status(503))
        #expect(try await fixture.states() == ["a conflicting"])
        let change = try #require(try await fixture.queue.changes().first)
        try await fixture.queue.edit(change.id, to: WriteNote("b", "note"))
        try await fixture.drain()
        #expect(fixture.server.texts == ["b"])
        await fixture.queue.close()
    }

    /// The server has the key of another request: an update of the app has changed what is sent, or a file was restored
    /// that is sent again.
    @Test(arguments: [NoteServer.Failure.lostResponse, nil])
    func mismatchIsNoRefusal(_ first: NoteServer.Failure?) async throws {
        let mismatch = NoteServer.Failure.response(422, type: "urn:runway:idempotency:mismatch")
        let fixture = try await refused(mismatch, first: first ?? mismatch)
        #expect(try await fixture.states() == ["a uncertain"] && fixture.results.all == ["a uncertain"])
        let change = try #require(try await fixture.queue.changes().first)
        await #expect(throws: StorageError.self) { try await fixture.queue.edit(change.id, to: WriteNote("b", "note")) }
        for _ in 0..<2 {
            try await fixture.queue.retry(Set(try await fixture.queue.changes().map(\.id)))
            try await fixture.drain()
        }
        #expect(fixture.server.texts == ["a"] && Set(fixture.server.received.map(\.key)).count == 1)
        await fixture.queue.close()
    }

    /// The server has stored a success that the app can't read, such as a redirect without a target.
    @Test(arguments: [NoteServer.Failure.lostResponse, nil])
    func replayedSuccessKeepsTheKey(_ first: NoteServer.Failure?) async throws {
        let unreadable = NoteServer.Failure.response(303, isReplayed: true)
        let server = NoteServer { _, count in count == 0 ? first ?? unreadable : count < 6 ? unreadable : nil }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await fixture.drain()
        try await expectOneKey(fixture)
    }

    /// A change that is uncertain has its key in a retry, and can't be edited.
    private func expectOneKey(_ fixture: QueueFixture) async throws {
        #expect(try await fixture.states() == ["a uncertain"])
        let change = try #require(try await fixture.queue.changes().first)
        await #expect(throws: StorageError.self) { try await fixture.queue.edit(change.id, to: WriteNote("b")) }
        try await fixture.queue.retry([change.id])
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"] && Set(fixture.server.received.map(\.key)).count == 1)
        #expect(fixture.results.all.last == "a done")
        await fixture.queue.close()
    }

    /// The only attempt took effect, and what it was redirected to is refused.
    @Test(arguments: [(303, 404), (302, 403), (301, 410), (303, 409)])
    func refusedRedirectTargetKeepsTheKey(_ redirect: Int, _ status: Int) async throws {
        let server = NoteServer { _, count in count == 0 ? .redirected(redirect, to: status) : nil }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await fixture.drain()
        try await expectOneKey(fixture)
    }

    /// The redirect's target wants a login.
    @Test func refusedLoginAfterARedirectKeepsTheKey() async throws {
        let server = NoteServer { _, count in count == 0 ? .redirected(303, to: 401) : count == 1 ? .status(403) : nil }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await waitUntil("the refusal") { server.received.count == 1 && !fixture.queue.currentState.isSending }
        #expect(try await fixture.states() == ["a sending"])
        try await fixture.drain()
        try await expectOneKey(fixture)
    }

    /// The attempt with the next token is refused, and not redirected.
    @Test func nextTokenDoesNotFreeTheKey() async throws {
        let server = NoteServer { _, count in count == 0 ? .redirected(303, to: 401) : count == 1 ? .status(403) : nil }
        let fixture = QueueFixture(server, status: .none)
        try await fixture.signIn("ada")
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(server.received.count == 2)
        try await expectOneKey(fixture)
    }

    @Test(arguments: [NoteServer.Failure.redirected(303, to: 404), .redirected(303, to: 401), .taken(500)])
    func unclearCallIsQueuedUnderItsKey(_ failure: NoteServer.Failure) async throws {
        let server = NoteServer { _, count in count == 0 ? failure : nil }
        let fixture = QueueFixture(server)
        #expect(await fixture.write("a")?.kind == .queued)
        try await fixture.drain()
        #expect(server.texts == ["a"] && fixture.results.all == ["a done"])
        #expect(server.received.count == 2 && Set(server.received.map(\.key)).count == 1)
        await fixture.queue.close()
    }

    @Test func refusedTokenLeavesAChangeEditable() async throws {
        let server = NoteServer { _, count in count == 0 ? .status(401) : count == 1 ? .status(403) : nil }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await waitUntil("the refusal") { server.received.count == 1 && !fixture.queue.currentState.isSending }
        #expect(try await fixture.states() == ["a waiting"])
        try await fixture.drain()
        // Neither attempt can have had an effect.
        #expect(try await fixture.states() == ["a refused"])
        try await fixture.queue.retry(Set(try await fixture.queue.changes().map(\.id)))
        try await fixture.drain()
        #expect(server.texts == ["a"] && Set(server.received.map(\.key)).count == 2)
        await fixture.queue.close()
    }
}
