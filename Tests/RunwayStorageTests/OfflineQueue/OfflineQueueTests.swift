import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

@Suite(.timeLimit(.minutes(10)))
struct OfflineQueueTests {
    @Test func changesAreSentInOrderWhenOnline() async throws {
        let fixture = QueueFixture(status: .none)
        for number in 0..<20 { #expect(await fixture.write("\(number)")?.kind == .queued) }
        #expect(fixture.queue.currentState.waitingCount == 20)
        fixture.status.set(.wifi)
        try await waitUntil("all changes") { fixture.server.texts.count == 20 }
        #expect(fixture.server.texts == (0..<20).map { "\($0)" })
        try await waitUntil("an empty queue") { fixture.queue.currentState.waitingCount == 0 }
        #expect(fixture.results.all == (0..<20).map { "\($0) done" })
        await fixture.queue.close()
    }

    @Test func callsMadeAtOnceKeepTheirOrder() async throws {
        let fixture = QueueFixture(status: .none)
        let manager = await APIManager<WriteNote>(on: fixture.network)
        for number in 0..<30 { await manager.load(WriteNote("\(number)")) }
        try await waitUntil("the changes") { fixture.queue.currentState.waitingCount == 30 }
        fixture.status.set(.wifi)
        try await waitUntil("all changes") { fixture.server.texts.count == 30 }
        #expect(fixture.server.texts == (0..<30).map { "\($0)" })
        await fixture.queue.close()
    }

    @Test func unsentChangesAreSentInTheNextRun() async throws {
        let first = QueueFixture(status: .none)
        await first.write("a")
        await first.write("b")
        let keys = try await first.queue.changes().map(\.id)
        await first.queue.close()
        let second = QueueFixture(first.server, in: first.folder, status: .none)
        try await waitUntil("the file") { second.queue.currentState.waitingCount == 2 }
        #expect(try await second.queue.changes().map(\.id) == keys)
        await second.write("c")
        second.status.set(.wifi)
        try await waitUntil("the results") { second.results.all.count == 3 }
        #expect(second.results.all == ["a done", "b done", "c done"])
        #expect(first.server.texts == ["a", "b", "c"])
        await second.queue.close()
    }

    @Test func lostResponseHasOneEffect() async throws {
        let fixture = QueueFixture(NoteServer { _, count in count < 3 ? .lostResponse : nil })
        #expect(await fixture.write("a")?.kind == .queued)
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"])
        #expect(Set(fixture.server.received.map(\.key)).count == 1)
        #expect(fixture.server.received.count == 4)
        await fixture.queue.close()
    }

    @Test func accountsAreSentApart() async throws {
        let fixture = QueueFixture(status: .none)
        try await fixture.signIn("ada")
        await fixture.write("of ada")
        try await fixture.network.signOut(of: Notebook.self)
        try await fixture.signIn("bob")
        await fixture.write("of bob")
        fixture.status.set(.wifi)
        try await waitUntil("the change of bob") { fixture.server.texts == ["of bob"] }
        await fixture.queue.flush()
        #expect(fixture.server.effects.map(\.account) == ["bob"])
        // One user's waiting work does not block the next.
        #expect(await fixture.write("online") == nil)
        try await fixture.signIn("ada")
        try await waitUntil("the change of ada") { fixture.server.texts.count == 3 }
        #expect(fixture.server.effects.map(\.account) == ["bob", "bob", "ada"])
        #expect(fixture.server.effects.map(\.hasToken) == [true, true, true])
        await fixture.queue.close()
    }

    /// The queue that a handler of its results uses.
    private final class Holder: Sendable {
        private let held = Mutex<OfflineQueue?>(nil)
        var queue: OfflineQueue? {
            get { held.withLock { $0 } }
            set { held.withLock { $0 = newValue } }
        }
    }

    @Test func handlerThatFlushesDoesNotWaitForItself() async throws {
        let holder = Holder()
        let fixture = QueueFixture(status: .none, onResult: { await holder.queue?.flush() })
        holder.queue = fixture.queue
        for text in ["a", "b", "c"] { await fixture.write(text) }
        fixture.status.set(.wifi)
        try await waitUntil("the results") { fixture.results.all == ["a done", "b done", "c done"] }
        await fixture.queue.close()
    }

    @Test func handlerThatClosesDoesNotWaitForItself() async throws {
        let holder = Holder()
        let fixture = QueueFixture(status: .none, onResult: { await holder.queue?.close() })
        holder.queue = fixture.queue
        for text in ["a", "b"] { await fixture.write(text) }
        fixture.status.set(.wifi)
        try await waitUntil("the result") { fixture.results.all == ["a done"] }
        // From here it waits for the end of what the handler began.
        await fixture.queue.close()
        let second = QueueFixture(fixture.server, in: fixture.folder, status: .none)
        try await waitUntil("the file") { second.queue.currentState.waitingCount == 1 }
        #expect(try await second.states() == ["b waiting"])
        await second.queue.close()
    }

    @Test func closeBeforeTheLayerDoesNothing() async throws {
        let (folder, server) = (ScratchFolder(), NoteServer())
        let queue = OfflineQueue(at: folder.file, replaying: [ReplayedEndpoint(WriteNote.self)])
        await queue.close()
        let network = NetworkLayer(
            transport: server, limits: LayerLimits(admission: .none, retrying: .none), offlineQueue: queue,
            status: SettableNetworkStatus(.none))
        var error = await #expect(throws: NetworkError.self) { try await network.call(WriteNote("a")) }
        #expect(error?.kind == .queued)
        await queue.close()
        error = await #expect(throws: NetworkError.self) { try await network.call(WriteNote("b")) }
        #expect(error?.kind == .storage)
        // The file is closed, so that the next run can open it.
        let second = QueueFixture(server, in: folder, status: .none)
        #expect(try await second.states() == ["a waiting"])
        await second.queue.close()
    }

    @Test func statesEndWithTheNewest() async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("a")
        await fixture.queue.flush()
        let journal = try fixture.queue.parts().journal
        // Two changes seldom cross at the end of a round, so that there are many.
        for _ in 0..<2000 {
            var states = fixture.queue.states.makeAsyncIterator()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask { for number in 0..<8 { journal.setSending(number.isMultiple(of: 2)) } }
                }
            }
            let last = await states.next()
            #expect(last == fixture.queue.currentState)
        }
        await fixture.queue.close()
    }

    @Test func fileHasNoToken() async throws {
        let fixture = QueueFixture(NoteServer { _, _ in .lostResponse })
        try await fixture.signIn("ada")
        await fixture.write("plain")
        await fixture.queue.close()
        #expect(fixture.server.received[0].hasToken)
        var isStored = false
        for file in try FileManager.default.contentsOfDirectory(at: fixture.folder.url, includingPropertiesForKeys: nil)
        {
            let bytes = try Data(contentsOf: file)
            #expect(bytes.firstRange(of: Data("token-of-ada".utf8)) == nil)
            isStored = isStored || bytes.firstRange(of: Data("WriteNote".utf8)) != nil
        }
        #expect(isStored)
    }

    @Test func erasedAccountIsNeverSent() async throws {
        let fixture = QueueFixture(status: .none)
        try await fixture.signIn("ada")
        await fixture.write("secret of ada")
        try await fixture.signIn("bob")
        await fixture.write("of bob")
        try await fixture.queue.erase(account: "ada")
        #expect(try await fixture.states() == ["of bob waiting"])
        fixture.status.set(.wifi)
        try await fixture.drain()
        try await fixture.signIn("ada")
        await fixture.queue.flush()
        #expect(fixture.server.texts == ["of bob"])
        await fixture.queue.close()
        for file in try FileManager.default.contentsOfDirectory(at: fixture.folder.url, includingPropertiesForKeys: nil)
        {
            #expect(try Data(contentsOf: file).firstRange(of: Data("ada".utf8)) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test func refusedTokenPausesUntilTheAppAsks() async throws {
        let fixture = QueueFixture(NoteServer { _, count in count == 0 ? .status(401) : nil }, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await waitUntil("the refusal") { fixture.server.received.count == 1 }
        try await waitUntil("the end of the call") { !fixture.queue.currentState.isSending }
        fixture.clock.advance(by: .seconds(120))
        #expect(fixture.server.received.count == 1)
        #expect(fixture.queue.currentState.waitingCount == 1)
        try await fixture.signIn("ada")
        await fixture.queue.flush()
        // It was made while nobody was signed in, and is not sent as anybody.
        #expect(fixture.server.received.count == 1)
        try await fixture.network.signOut(of: Notebook.self)
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"])
        await fixture.queue.close()
    }

    @Test func refusalHoldsWhatDependsOnItAlone() async throws {
        let fixture = QueueFixture(NoteServer { item, _ in item.text == "create" ? .status(404) : nil }, status: .none)
        await fixture.write("create", "note")
        await fixture.write("comment", "note", "comment")
        await fixture.write("other", "else")
        await fixture.write("reply", "comment")
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(fixture.server.texts == ["other"])
        #expect(try await fixture.states() == ["create refused", "comment held", "reply held"])
        #expect(fixture.results.all == ["create refused", "other done"])
        #expect(fixture.queue.currentState.undecidedCount == 1 && fixture.queue.currentState.heldCount == 2)
        // A new call that depends on it, or on one that is held, waits, too, while others are sent.
        #expect(await fixture.write("edit", "note")?.kind == .queued)
        #expect(await fixture.write("second reply", "comment")?.kind == .queued)
        #expect(await fixture.write("free", "else") == nil)
        #expect(fixture.server.texts == ["other", "free"] && fixture.queue.currentState.heldCount == 4)
        await fixture.queue.close()
    }

    @Test func editedChangePrecedesDependentsWithANewKey() async throws {
        let fixture = QueueFixture(NoteServer { item, _ in item.text == "bad" ? .status(409) : nil }, status: .none)
        await fixture.write("bad", "note")
        await fixture.write("comment", "note")
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(try await fixture.states() == ["bad conflicting", "comment held"])
        let change = try #require(try await fixture.queue.changes().first)
        try await fixture.queue.edit(change.id, to: WriteNote("good", "note"))
        try await fixture.drain()
        #expect(fixture.server.texts == ["good", "comment"])
        #expect(Set(fixture.server.received.map(\.key)).count == 3)
        #expect(fixture.results.all == ["bad conflicting", "good done", "comment done"])
        await fixture.queue.close()
    }

    @Test(arguments: [true, false]) func discardTakesDependentsAlongIfWanted(_ dependents: Bool) async throws {
        let fixture = QueueFixture(NoteServer { item, _ in item.text == "create" ? .status(410) : nil }, status: .none)
        await fixture.write("create", "note")
        await fixture.write("comment", "note")
        fixture.status.set(.wifi)
        try await fixture.drain()
        let change = try #require(try await fixture.queue.changes().first)
        try await fixture.queue.discard([change.id], withDependents: dependents)
        try await fixture.drain()
        #expect(fixture.server.texts == (dependents ? [] : ["comment"]))
        #expect(try await fixture.queue.changes().isEmpty)
        await fixture.queue.close()
    }

    @Test func retriedRefusalHasANewKey() async throws {
        let fixture = QueueFixture(NoteServer { _, count in count == 0 ? .status(422) : nil }, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await fixture.drain()
        try await fixture.queue.retry(Set(try await fixture.queue.changes().map(\.id)))
        try await fixture.drain()
        #expect(fixture.server.texts == ["a"])
        #expect(Set(fixture.server.received.map(\.key)).count == 2)
        await fixture.queue.close()
    }

    @Test func serverFaultsDoNotBlockForever() async throws {
        let fixture = QueueFixture(NoteServer { item, _ in item.text == "poison" ? .status(500) : nil }, status: .none)
        await fixture.write("poison")
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(fixture.server.received.filter { $0.text == "poison" }.count == 5)
        #expect(fixture.server.texts == ["a"])
        #expect(try await fixture.states() == ["poison uncertain"])
        await fixture.queue.close()
    }

    @Test func retryAfterIsFollowed() async throws {
        let fixture = QueueFixture(NoteServer { _, count in count == 0 ? .status(503, retryAfter: 7200) : nil })
        #expect(await fixture.write("a")?.kind == .queued)
        fixture.clock.advance(by: .seconds(7000))
        await fixture.queue.flush()
        #expect(fixture.server.received.count == 1)
        fixture.clock.advance(by: .seconds(300))
        try await waitUntil("the change") { fixture.server.texts == ["a"] }
        #expect(fixture.server.received[0].key == fixture.server.received[1].key)
        await fixture.queue.close()
    }

    @Test func waitingChangeCanBeCancelledAndEdited() async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("a")
        await fixture.write("b")
        let ids = try await fixture.queue.changes().map(\.id)
        #expect(try await fixture.queue.cancel(ids[0]))
        #expect(try await !fixture.queue.cancel(ids[0]))
        try await fixture.queue.edit(ids[1], to: WriteNote("c"))
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(fixture.server.texts == ["c"])
        await fixture.queue.close()
    }

    @Test func changeThatMayHaveArrivedIsNotEdited() async throws {
        let fixture = QueueFixture(NoteServer { _, _ in .lostResponse })
        await fixture.write("a")
        let change = try #require(try await fixture.queue.changes().first)
        #expect(change.state == .sending)
        await #expect { try await fixture.queue.edit(change.id, to: WriteNote("b")) } throws: {
            ($0 as? StorageError)?.kind == .rejected
        }
        #expect(try await !fixture.queue.cancel(change.id))
        #expect(fixture.queue.currentState.waitingCount == 0)
        await fixture.queue.close()
    }

    @Test func changeThatIsSentCanBeCancelled() async throws {
        let gate = ScriptedGate()
        let fixture = QueueFixture(NoteServer { item, _ in item.text == "a" ? .held(gate) : nil }, status: .none)
        await fixture.write("a")
        await fixture.write("b")
        fixture.status.set(.wifi)
        try await gate.waitForArrivals()
        let change = try #require(try await fixture.queue.changes().first)
        #expect(try await !fixture.queue.cancel(change.id))
        try await fixture.drain()
        #expect(fixture.server.texts == ["b"])
        #expect(fixture.results.all == ["b done"])
        gate.open()
        await fixture.queue.close()
    }

    @Test func oldChangeIsHandedToTheApp() async throws {
        let fixture = QueueFixture(status: .none) { $0.maximumAge = .seconds(3600) }
        await fixture.write("old", "note")
        await fixture.write("young", "other")
        fixture.clock.advance(by: .seconds(3500))
        await fixture.write("younger")
        fixture.clock.advance(by: .seconds(400))
        try await waitUntil("the old ones") { fixture.results.all.count == 2 }
        #expect(Set(fixture.results.all) == ["old expired", "young expired"])
        #expect(try await fixture.states() == ["old expired", "young expired", "younger waiting"])
        fixture.status.set(.wifi)
        try await fixture.drain()
        try await fixture.queue.retry(Set(try await fixture.queue.changes().map(\.id)))
        try await fixture.drain()
        #expect(fixture.server.texts == ["younger", "old", "young"])
        await fixture.queue.close()
    }

    @Test(arguments: [NetworkStatus(.wifi, isConstrained: true), NetworkStatus(.wifi, isExpensive: true)])
    func changesWaitForANetworkThatIsAllowed(_ refused: NetworkStatus) async throws {
        let fixture = QueueFixture(status: .none) {
            $0.allowsNetwork = { $0.isReachable && !$0.isConstrained && !$0.isExpensive }
        }
        await fixture.write("a")
        fixture.status.set(refused)
        await fixture.queue.flush()
        #expect(fixture.server.received.isEmpty && fixture.queue.currentState.waitingCount == 1)
        fixture.status.set(.wifi)
        try await waitUntil("the change") { fixture.server.texts == ["a"] }
        await fixture.queue.close()
    }

    @Test func stateIsVisible() async throws {
        let fixture = QueueFixture(status: .none)
        var states = fixture.queue.states.makeAsyncIterator()
        let notifications = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: OfflineQueue.didChange, object: fixture.queue, queue: nil
        ) { _ in notifications.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        await fixture.write("a")
        var last: OfflineQueueState?
        while last?.waitingCount != 1, let state = await states.next() { last = state }
        #expect(last?.waitingCount == 1)
        #expect(notifications.withLock { $0 } > 0)
        fixture.status.set(.wifi)
        while last?.waitingCount != 0, let state = await states.next() { last = state }
        #expect(last?.waitingCount == 0)
        await fixture.queue.close()
    }
}
