import Foundation
import GRDB
import HTTPTypes
import Runway
import RunwayJSON
import RunwaySQLite
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// A change has one effect, and none is lost, where keys, claims and places of changes meet what servers and disks do.
@Suite(.timeLimit(.minutes(10)))
struct OneEffectTests {
    @Test func placeThatIsTakenSetsNothingAside() async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("first")
        let (journal, _, link) = try fixture.queue.parts()
        let change = try link.assemble(WriteNote("second"))
        let flight = try #require(change.flight)
        let date = Date(timeIntervalSince1970: 1_790_000_000)
        for _ in 0..<2 {
            await journal.settle(try await journal.store(change, flight, at: date).change.id, isQueued: true)
        }
        let state = fixture.queue.currentState
        #expect(state.unreadableFiles.isEmpty && state.waitingCount == 3)
        #expect(try await fixture.states() == ["first waiting", "second waiting", "second waiting"])
        await fixture.queue.close()
    }

    /// A change that was sent once, with a response that was lost, and waited for an hour after that.
    private func expired(_ server: NoteServer) async throws -> QueueFixture {
        let fixture = QueueFixture(server, status: .none) { $0.maximumAge = .seconds(3600) }
        await fixture.write("a", "note")
        fixture.status.set(.wifi)
        try await waitUntil("the first attempt") {
            server.received.count == 1 && !fixture.queue.currentState.isSending
        }
        fixture.status.set(.none)
        fixture.clock.advance(by: .seconds(4000))
        try await waitUntil("the end of its time") { fixture.results.all == ["a expired"] }
        return fixture
    }

    /// The queue refuses to send a change again, with its key or as another one.
    private func expectNoRetry(_ fixture: QueueFixture) async throws {
        let change = try #require(try await fixture.queue.changes().first)
        await #expect { try await fixture.queue.edit(change.id, to: WriteNote("b", "note")) } throws: {
            ($0 as? StorageError)?.kind == .rejected
        }
        await #expect { try await fixture.queue.retry([change.id]) } throws: {
            ($0 as? StorageError)?.kind == .rejected
        }
        await fixture.queue.flush()
        #expect(try await fixture.states() == ["a expired"])
    }

    @Test func sentChangeIsNotSentAgainAfterExpiry() async throws {
        let fixture = try await expired(NoteServer { _, count in count == 0 ? .lostResponse : nil })
        fixture.status.set(.wifi)
        try await expectNoRetry(fixture)
        #expect(fixture.server.received.count == 1)
        await fixture.queue.close()
    }

    /// A device that was off, after which the clock of the file has moved by a week at most.
    @Test(arguments: [60, -60]) func changeWithAnExpiredKeyIsNotResent(_ days: Int) async throws {
        let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))
        let server = NoteServer { _, count in count == 0 ? .lostResponse : nil }
        let first = QueueFixture(server, wall: { date.withLock { $0 } })
        #expect(await first.write("a")?.kind == .queued)
        await first.queue.close()
        date.withLock { $0 += Double(days) * 86_400 }
        let second = QueueFixture(server, in: first.folder, wall: { date.withLock { $0 } })
        try await waitUntil("the app to be asked") { second.results.all == ["a expired"] }
        try await expectNoRetry(second)
        #expect(server.received.count == 1)
        await second.queue.close()
    }

    /// A file that was restored from a backup, or of a device that was off. The server may have taken the change since,
    /// and forgotten it.
    @Test(arguments: [60, -60]) func unsentChangeOfABackupNeedsADecision(_ days: Int) async throws {
        let first = QueueFixture(status: .none)
        await first.write("a")
        await first.queue.close()
        let journal = try Journal(in: first.folder)
        let placed = try #require(try journal.entries().first)
        var change = try #require(StoredChange(placed))
        change.boot = "an earlier one"
        change.date -= Double(days) * 86_400
        try journal.replace(placed, with: try change.bytes(), .seconds(0), keepsAge: true)
        try journal.close()
        let second = QueueFixture(first.server, in: first.folder)
        try await waitUntil("the app to be asked") { second.results.all == ["a expired"] }
        #expect(first.server.received.isEmpty)
        try await second.queue.retry(Set(try await second.queue.changes().map(\.id)))
        try await second.drain()
        #expect(first.server.texts == ["a"] && second.results.all == ["a expired", "a done"])
        #expect(first.server.received.map(\.key) != ["\"\(change.key.uuidString.lowercased())\""])
        await second.queue.close()
    }

    @Test(arguments: [-365, 365]) func dateJumpChangesNeitherWaitNorAge(_ days: Int) async throws {
        let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))
        let isDown = Flag(true)
        let server = NoteServer { _, _ in isDown.isOn ? .unreachable : nil }
        let fixture = QueueFixture(server, { $0.maximumAge = .seconds(3600) }, wall: { date.withLock { $0 } })
        #expect(await fixture.write("a")?.kind == .queued)
        date.withLock { $0 += Double(days) * 86_400 }
        isDown.isOn = false
        // The longest backoff after one failure.
        fixture.clock.advance(by: .seconds(1))
        try await waitUntil("the change") { fixture.results.all == ["a done"] }
        isDown.isOn = true
        #expect(await fixture.write("b")?.kind == .queued)
        date.withLock { $0 -= Double(days) * 86_400 }
        fixture.clock.advance(by: .seconds(3500))
        await fixture.queue.flush()
        #expect(try await fixture.states() == ["b waiting"])
        fixture.clock.advance(by: .seconds(200))
        try await waitUntil("the end of its time") { fixture.results.all == ["a done", "b expired"] }
        #expect(server.texts == ["a"])
        await fixture.queue.close()
    }

    @Test func possiblyAppliedChangeIsRetriedWithItsKey() async throws {
        let server = NoteServer { _, count in count < 5 ? .taken(500) : nil }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(try await fixture.states() == ["a uncertain"])
        let change = try #require(try await fixture.queue.changes().first)
        await #expect(throws: StorageError.self) { try await fixture.queue.edit(change.id, to: WriteNote("b")) }
        try await fixture.queue.retry([change.id])
        try await fixture.drain()
        #expect(server.texts == ["a"] && server.received.count == 6)
        #expect(Set(server.received.map(\.key)).count == 1)
        await fixture.queue.close()
    }

    @Test func changeRemovedBeforeItsCallIsNotSent() async throws {
        let fixture = QueueFixture(status: .none)
        let replays = Mutex(0)
        var link = try fixture.queue.parts().link
        link.replay = { _, _ throws(NetworkError) in
            replays.withLock { $0 += 1 }
            return RawData([])
        }
        let change = try link.assemble(WriteNote("a"))
        let flight = try #require(change.flight)
        let folder = ScratchFolder()
        let journal = ChangeJournal(at: folder.file, OfflineQueueOptions(), time: { .seconds(0) }, onChange: {})
        let drainer = ChangeDrainer(journal, link, [:], OfflineQueueOptions())
        for isRemoved in [true, false] {
            let stored = try await journal.store(change, flight, at: Date(timeIntervalSince1970: 1_767_225_600)).change
            await journal.settle(stored.id, isQueued: true)
            let claim = try #require(try await journal.claim(ChangeScope(change).text))
            if isRemoved {
                // The app may have cancelled the change after it was sent.
                #expect(try await journal.remove([stored.id]).isEmpty)
                drainer.cancel([stored.id])
            }
            let result = await drainer.send(change, claim)
            #expect(replays.withLock { $0 } == (isRemoved ? 0 : 1))
            if isRemoved { #expect { try result.get() } throws: { ($0 as? NetworkError)?.kind == .cancelled } }
        }
        await journal.close()
        await fixture.queue.close()
    }

    @Test func sentChangeMayHaveAnEffectDespiteCancellation() async throws {
        let fixture = try await expired(NoteServer { _, _ in .lostResponse })
        let change = try #require(try await fixture.queue.changes().first)
        #expect(try await !fixture.queue.cancel(change.id))
        #expect(try await fixture.queue.changes().isEmpty)
        await fixture.queue.close()
    }

    @Test func executedChangeWithoutAResponseIsDone() async throws {
        let server = NoteServer { item, _ in
            item.text == "a" ? .response(409, type: "urn:runway:idempotency:notStored") : nil
        }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        await fixture.write("b")
        fixture.status.set(.wifi)
        try await fixture.drain()
        try await waitUntil("the results") { fixture.results.all == ["a done", "b done"] }
        #expect(server.received.map(\.text) == ["a", "b"])
        #expect(try await fixture.queue.changes().isEmpty)
        await fixture.queue.close()
    }

    @Test(arguments: [500, 502, 504]) func storedFailureIsHandedToTheApp(_ status: Int) async throws {
        let server = NoteServer { item, count in
            item.text == "a" ? .response(status, isReplayed: count > 0) : nil
        }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        await fixture.write("b")
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(server.received.map(\.text) == ["a", "a", "b"])
        #expect(try await fixture.states() == ["a refused"])
        // Nobody knows what it has done.
        let change = try #require(try await fixture.queue.changes().first)
        #expect(try await !fixture.queue.cancel(change.id))
        await fixture.queue.close()
    }

    @Test func retriedStoredFailureHasANewKey() async throws {
        let server = NoteServer { _, count in count < 2 ? .response(500, isReplayed: count > 0) : nil }
        let fixture = QueueFixture(server, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await fixture.drain()
        try await fixture.queue.retry(Set(try await fixture.queue.changes().map(\.id)))
        try await fixture.drain()
        #expect(server.texts == ["a"] && Set(server.received.map(\.key)).count == 2)
        await fixture.queue.close()
    }

    @Test func cancelledCallIsRemovedOnceTheDiskAllows() async throws {
        let fixture = QueueFixture(status: .none)
        let change = try fixture.queue.parts().link.assemble(WriteNote("a"))
        // Without a drainer, which may open the file at any time.
        let folder = ScratchFolder()
        let first = ChangeJournal(at: folder.file, OfflineQueueOptions(), time: { .seconds(0) }, onChange: {})
        let stored = try await first.store(
            change, try #require(change.flight), at: Date(timeIntervalSince1970: 1_790_000_000)
        ).change
        await first.close()
        let journal = ChangeJournal(at: folder.file, OfflineQueueOptions(), time: { .seconds(0) }, onChange: {})
        let other = try Journal(in: folder)
        await journal.settle(stored.id, isQueued: false)
        #expect(try other.counts().waiting.count == 1)
        try other.close()
        #expect(try await journal.claim(ChangeScope(change).text) == nil)
        #expect(try await journal.list().isEmpty)
        await journal.close()
        await fixture.queue.close()
    }

    @Test func laterVersionsChangeStaysMarkedAsSent() async throws {
        let first = QueueFixture(status: .none)
        await first.write("a")
        await first.queue.close()
        let journal = try Journal(in: first.folder)
        let placed = try #require(try journal.entries().first)
        _ = try #require(try journal.claim(placed.scope))
        try journal.write { database in
            var later = placed
            later.payload = Array(#"{"version":9}"#.utf8)
            try database.execute(
                sql: "UPDATE entry SET payload = ?, checksum = ?",
                arguments: [Data(later.payload), RowChecksum.of(later)])
        }
        try journal.close()
        let second = QueueFixture(first.server, in: first.folder, status: .none)
        try await waitUntil("the file") { second.queue.currentState.undecidedCount == 1 }
        await second.queue.close()
        // The app was updated.
        let again = try Journal(in: first.folder)
        try again.write { database in
            try database.execute(
                sql: "UPDATE entry SET payload = ?, checksum = ?",
                arguments: [Data(placed.payload), RowChecksum.of(placed)])
        }
        try again.close()
        let third = QueueFixture(first.server, in: first.folder, status: .none)
        try await waitUntil("the file") { third.queue.currentState.waitingCount == 1 }
        #expect(try await third.states() == ["a sending"])
        await third.queue.close()
    }

    @Test func replayedChangeRemovesWhatItInvalidates() async throws {
        let first = QueueFixture(status: .none)
        await first.write("a")
        await first.queue.close()
        let fixture = QueueFixture(first.server, in: first.folder, status: .none)
        fixture.status.set(.wifi)
        // What an earlier run stored names the endpoints, too.
        try await waitUntil("the file") { fixture.server.texts == ["a"] }
        try await fixture.drain()
        #expect(try await fixture.network.call(NoteTexts()).json.elements.map(\.string) == ["a"])
        fixture.status.set(.none)
        await fixture.write("b")
        #expect(try await fixture.network.call(NoteTexts()).json.elements.map(\.string) == ["a"])
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(try await fixture.network.call(NoteTexts()).json.elements.map(\.string) == ["a", "b"])
        await fixture.queue.close()
    }

    @Test func retriedChangePrecedesALaterCall() async throws {
        let server = NoteServer { _, count in count == 0 ? .status(412) : nil }
        let first = QueueFixture(server, status: .none)
        await first.write("a", "note")
        first.status.set(.wifi)
        try await first.drain()
        #expect(try await first.states() == ["a conflicting"])
        await first.queue.close()
        // In a later run, whose first call reads the file.
        let second = QueueFixture(server, in: first.folder)
        #expect(await second.write("c", "note")?.kind == .queued)
        #expect(try await second.states() == ["a conflicting", "c held"])
        let change = try #require(try await second.queue.changes().first)
        try await second.queue.retry([change.id])
        try await second.drain()
        #expect(server.texts == ["a", "c"] && second.results.all == ["a done", "c done"])
        #expect(await second.write("d", "note") == nil)
        await second.queue.close()
    }

    @Test func successIsReportedOnceOnAFailingDisk() async throws {
        let fixture = QueueFixture(status: .none)
        await fixture.write("a")
        try await fixture.execute("CREATE TRIGGER failure BEFORE DELETE ON entry \(QueueFixture.failure)")
        fixture.status.set(.wifi)
        try await waitUntil("the result") { !fixture.results.all.isEmpty }
        for _ in 0..<3 { await fixture.queue.flush() }
        // Nor does it expire.
        fixture.clock.advance(by: .seconds(31 * 86_400))
        await fixture.queue.flush()
        #expect(fixture.results.all == ["a done"] && fixture.server.received.count == 1)
        #expect(fixture.queue.currentState.waitingCount == 1)
        #expect(try await fixture.queue.changes().isEmpty)
        try await fixture.execute("DROP TRIGGER failure")
        try await fixture.drain()
        #expect(fixture.results.all == ["a done"] && fixture.server.received.count == 1)
        await fixture.queue.close()
    }

    @Test func handlerFindsItsChangeListedNoMore() async throws {
        let queue = Mutex<OfflineQueue?>(nil)
        let counts = Mutex<[Int]>([])
        let fixture = QueueFixture(
            status: .none,
            onResult: {
                let changes = try? await queue.withLock { $0 }?.changes()
                counts.withLock { $0.append(changes?.count ?? -1) }
            })
        queue.withLock { $0 = fixture.queue }
        await fixture.write("a")
        await fixture.write("b")
        fixture.status.set(.wifi)
        try await fixture.drain()
        #expect(counts.withLock { $0 } == [1, 0])
        await fixture.queue.close()
    }

    @Test func cancelledFlushReturnsWhileSendingContinues() async throws {
        let gate = ScriptedGate()
        let fixture = QueueFixture(NoteServer { _, _ in .held(gate) }, status: .none)
        await fixture.write("a")
        fixture.status.set(.wifi)
        try await gate.waitForArrivals()
        let flush = Task { [queue = fixture.queue] in await queue.flush() }
        flush.cancel()
        await flush.value
        #expect(fixture.server.texts.isEmpty)
        gate.open()
        try await waitUntil("the change") { fixture.results.all == ["a done"] }
        await fixture.queue.close()
    }

    @Test func callWithSubjectsOvertakesNothing() async throws {
        let folder = ScratchFolder()
        try Data("a file where the folder should be".utf8).write(to: folder.url)
        let fixture = QueueFixture(in: folder)
        let error = await fixture.write("a", "note")
        #expect(error?.kind == .storage && error?.sending == .notSent && fixture.server.received.isEmpty)
        // Nothing can be sent after this one that undoes it.
        #expect(await fixture.write("b") == nil)
        await fixture.queue.close()
    }
}
