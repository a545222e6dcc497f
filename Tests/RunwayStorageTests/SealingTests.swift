import Crypto
import Foundation
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

struct KeyedSealing: PayloadSealing {
    let key: SymmetricKey

    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: context)
        return Array(box.combined ?? Data())
    }

    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        Array(try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context))
    }
}

/// A sealing whose key can't be read, as while the device is locked.
private struct LockedSealing: PayloadSealing {
    struct Locked: Error {}

    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] { throw Locked() }
    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] { throw Locked() }
}

/// A sealing whose key an app can't read for a while, or replaces.
private final class ChangingSealing: PayloadSealing {
    private let key: Mutex<KeyedSealing?>

    init(_ key: KeyedSealing?) { self.key = Mutex(key) }

    /// Replaces the key; with `nil`, it can't be read.
    func set(_ newKey: KeyedSealing?) { key.withLock { $0 = newKey } }

    private func readKey() throws -> KeyedSealing {
        guard let key = key.withLock({ $0 }) else { throw LockedSealing.Locked() }
        return key
    }

    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] { try readKey().seal(bytes, for: context) }
    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] { try readKey().open(sealed, for: context) }
}

/// Payloads that are encrypted with a key of the app.
@Suite(.timeLimit(.minutes(10)))
struct SealingTests {
    private let sealing = KeyedSealing(key: SymmetricKey(size: .bits256))
    private let other = KeyedSealing(key: SymmetricKey(size: .bits256))

    private func isPlain(_ text: String, in folder: URL) throws -> Bool {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).contains { path in
            let data = try? Data(contentsOf: folder.appending(path: path))
            return data?.firstRange(of: Data(text.utf8)) != nil
        }
    }

    @Test func logWritesNothingInClear() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        var log = fixture.open { $0.sealing = sealing }
        try await log.record("diagnosis", ["text": "hypertension"]).committed()
        #expect(try !isPlain("diagnosis", in: fixture.folder.url))
        #expect(try !isPlain("hypertension", in: fixture.folder.url))
        await log.close()
        fixture.status.set(.wifi)
        log = fixture.open { $0.sealing = sealing }
        await log.flush()
        #expect(fixture.server.names == ["diagnosis"])
        await log.close()
    }

    @Test func recordsOfAnotherKeyWaitUntilItReturns() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        var log = fixture.open { $0.sealing = sealing }
        try await log.record("sealed").committed()
        await log.close()
        fixture.status.set(.wifi)
        log = fixture.open { $0.sealing = other }
        try await log.record("of the other key").committed()
        await log.flush()
        #expect(fixture.server.names == ["of the other key"])
        let refused = try await log.refusedRecords()
        #expect(refused.map(\.json) == [[]] && refused.map(\.isSealed) == [true])
        let state = await log.currentState
        #expect(state.sealedCount == 1 && state.setAsideCount == 0 && state.lost == [:] && state.problem == nil)
        await log.close()
        log = fixture.open { $0.sealing = sealing }
        await log.flush()
        try await waitUntil("the sealed record") { fixture.server.names == ["of the other key", "sealed"] }
        await log.close()
    }

    @Test func unreadableKeyStopsTheLogAndLosesNothing() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let changing = ChangingSealing(sealing)
        var log = fixture.open { $0.sealing = changing }
        for number in 0..<40 { try await log.record("r\(number)").committed() }
        await log.close()
        changing.set(nil)
        fixture.status.set(.wifi)
        log = fixture.open { $0.sealing = changing }
        await log.flush()
        var state = await log.currentState
        #expect(state.problem?.kind == .keyUnavailable && fixture.server.batches.isEmpty)
        #expect(state.waitingCount == 40 && state.sealedCount == 0 && state.setAsideCount == 0 && state.lost == [:])
        changing.set(sealing)
        try await fixture.drain(log, upTo: 40)
        #expect(fixture.server.names == (0..<40).map { "r\($0)" })
        state = await log.currentState
        #expect(state.problem == nil && state.waitingCount == 0)
        await log.close()
    }

    @Test func recordsOfAnotherKeyHoldUpNoOthers() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let changing = ChangingSealing(sealing)
        let log = fixture.open {
            $0.sealing = changing
            $0.maximumSetAsideCount = 1
        }
        for number in 0..<70 { try await log.record("r\(number)").committed() }
        changing.set(other)
        try await log.record("of the other key").committed()
        fixture.status.set(.wifi)
        try await waitUntil("the record") {
            await log.flush()
            return fixture.server.names == ["of the other key"]
        }
        let state = await log.currentState
        #expect(state.sealedCount == 70 && state.lost == [:])
        // In the same run.
        changing.set(sealing)
        try await fixture.drain(log, upTo: 71)
        #expect(fixture.server.names.dropFirst() == (0..<70).map { "r\($0)" }[...])
        #expect(await log.currentState.sealedCount == 0)
        await log.close()
    }

    @Test func sealedEntriesAreEvictedAsThoseThatWait() throws {
        let folder = ScratchFolder()
        let changing = ChangingSealing(sealing)
        let journal = try Journal(
            at: folder.file, limits: JournalLimits(maximumCount: 2, maximumAge: .seconds(100)), durability: .normal,
            sealing: changing, time: .seconds(0))
        try journal.append(["a"], at: 0)
        try journal.append(["b"], at: 50)
        changing.set(other)
        #expect(try journal.claimOpened("", maximumCount: 30, maximumByteCount: 1 << 20) == nil)
        #expect(try journal.counts().sealed == 2 && journal.counts().waiting == [:])
        try journal.append(["c"], at: 60)
        #expect(try journal.counts().lost == [.count: 1] && journal.counts().sealed == 1)
        try journal.append(["d"], at: 155)
        #expect(try journal.counts().lost == [.count: 1, .age: 1] && journal.counts().sealed == 0)
        #expect(try journal.claim()?.texts == ["c", "d"])
        try journal.close()
    }

    @Test func recordsFromBeforeTheSealingAreSent() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        var log = fixture.open()
        try await log.record("plain").committed()
        await log.close()
        fixture.status.set(.wifi)
        log = fixture.open { $0.sealing = sealing }
        await log.flush()
        try await waitUntil("the record") { fixture.server.names == ["plain"] }
        await log.close()
    }

    @Test func recordThatCannotBeSealedStaysInMemory() async throws {
        let fixture = LogFixture()
        let log = fixture.open { $0.sealing = LockedSealing() }
        await #expect(throws: StorageError.self) { try await log.record("a").committed() }
        let state = await log.currentState
        #expect(state.bufferedCount == 1 && state.waitingCount == 0)
        #expect(try !isPlain("\"a\"", in: fixture.folder.url))
        await log.close()
    }

    @Test func sealedPayloadOpensOnlyInItsEntry() throws {
        let coder = PayloadCoder(sealing: sealing)
        let (first, second) = (JournalEntry("first"), JournalEntry("second"))
        var moved = second
        moved.payload = try coder.sealed(first).payload
        #expect(coder.opened(moved).isSealed)
        #expect(coder.opened(try coder.sealed(first)) == first)
        #expect(PayloadCoder(sealing: nil).opened(try coder.sealed(first)).isSealed)
    }

    @Test func queueWritesNothingInClear() async throws {
        let first = QueueFixture(status: .none) { $0.sealing = sealing }
        await first.write("hypertension")
        #expect(try !isPlain("hypertension", in: first.folder.url))
        await first.queue.close()
        let wrong = QueueFixture(first.server, in: first.folder) { $0.sealing = other }
        try await wrong.drain()
        #expect(try await wrong.queue.changes().map(\.state) == [.sealed])
        let state = wrong.queue.currentState
        #expect(state.sealedCount == 1 && state.undecidedCount == 0 && state.problem == nil)
        #expect(first.server.texts.isEmpty && wrong.results.all.isEmpty)
        await wrong.queue.close()
        let right = QueueFixture(first.server, in: first.folder) { $0.sealing = sealing }
        try await right.drain()
        #expect(first.server.texts == ["hypertension"])
        await right.queue.close()
    }

    @Test func unreadableKeyStopsTheQueueAndLosesNothing() async throws {
        let changing = ChangingSealing(sealing)
        let first = QueueFixture(status: .none) { $0.sealing = changing }
        for text in ["a", "b"] { await first.write(text) }
        await first.queue.close()
        changing.set(nil)
        let second = QueueFixture(first.server, in: first.folder) { $0.sealing = changing }
        try await waitUntil("the problem") { second.queue.currentState.problem?.kind == .keyUnavailable }
        await second.queue.flush()
        var state = second.queue.currentState
        #expect(state.waitingCount == 2 && state.undecidedCount == 0 && state.damagedCount == 0)
        #expect(state.problem?.kind == .keyUnavailable && first.server.received.isEmpty)
        #expect(try await second.queue.changes().map(\.state) == [.sealed, .sealed])
        // It would overtake the others.
        let error = await second.write("c")
        #expect((error?.underlying as? StorageError)?.kind == .keyUnavailable)
        changing.set(sealing)
        try await second.drain()
        #expect(first.server.texts == ["a", "b"])
        state = second.queue.currentState
        #expect(state.problem == nil && state.sealedCount == 0)
        await second.queue.close()
    }

    @Test func sealedChangesAreReviewedWhileAServerPauses() async throws {
        let server = NoteServer { _, count in count == 0 ? .status(503, retryAfter: 3600) : nil }
        // Stored before the app had a sealing, so that each key can read it.
        let plain = QueueFixture(server, status: .none)
        await plain.write("paused")
        await plain.queue.close()
        let first = QueueFixture(server, in: plain.folder, status: .none) { $0.sealing = sealing }
        await first.write("sealed")
        await first.queue.close()
        let changing = ChangingSealing(other)
        let second = QueueFixture(server, in: plain.folder) { $0.sealing = changing }
        try await waitUntil("the server to ask to wait") {
            server.received.count == 1 && !second.queue.currentState.isSending
        }
        #expect(second.queue.currentState.sealedCount == 1)
        changing.set(sealing)
        await second.queue.flush()
        #expect(second.queue.currentState.sealedCount == 0 && server.received.count == 1)
        second.clock.advance(by: .seconds(3601))
        try await waitUntil("both changes") { server.texts == ["paused", "sealed"] }
        await second.queue.close()
    }

    @Test func changeThatMayHaveArrivedSurvivesAnotherKey() async throws {
        let first = QueueFixture(status: .none) { $0.sealing = sealing }
        await first.write("a")
        await first.queue.close()
        // A process that ended while it sent the change.
        let journal = try Journal(
            at: first.folder.file, durability: .normal, sealing: sealing, time: .seconds(0))
        let scope = try #require(try journal.entries().first?.scope)
        _ = try #require(try journal.claim(scope))
        try journal.close()
        let wrong = QueueFixture(first.server, in: first.folder) { $0.sealing = other }
        try await wrong.drain()
        let id = try #require(try await wrong.queue.changes().first?.id)
        await #expect(throws: StorageError.self) { try await wrong.queue.edit(id, to: WriteNote("b")) }
        await wrong.queue.close()
        let right = QueueFixture(first.server, in: first.folder, status: .none) { $0.sealing = sealing }
        try await waitUntil("the file") { right.queue.currentState.waitingCount == 1 }
        #expect(try await right.states() == ["a sending"])
        await #expect(throws: StorageError.self) { try await right.queue.edit(id, to: WriteNote("b")) }
        right.status.set(.wifi)
        try await right.drain()
        #expect(first.server.texts == ["a"])
        await right.queue.close()
    }

    @Test func heldChangeStaysHeldAfterAWrongKey() async throws {
        let server = NoteServer { item, _ in item.text == "refused" ? .status(422) : nil }
        let first = QueueFixture(server, status: .none) { $0.sealing = sealing }
        await first.write("refused", "note 1")
        await first.write("held", "note 1")
        first.status.set(.wifi)
        try await first.drain()
        #expect(try await first.states() == ["refused refused", "held held"])
        await first.queue.close()
        let wrong = QueueFixture(server, in: first.folder) { $0.sealing = other }
        try await wrong.drain()
        #expect(try await wrong.queue.changes().map(\.state) == [.sealed, .sealed])
        await wrong.queue.close()
        let right = QueueFixture(server, in: first.folder) { $0.sealing = sealing }
        try await waitUntil("the file") { right.queue.currentState.heldCount == 1 }
        try await right.drain()
        #expect(try await right.states() == ["refused refused", "held held"])
        #expect(server.texts.isEmpty)
        await right.queue.close()
    }

    @Test(arguments: [100, 50_000]) func cacheWritesNothingInClear(_ byteCount: Int) async throws {
        let folder = CacheFolder()
        let text = "hypertension " + String(repeating: "x", count: byteCount)
        let entry = CacheTierEntry(metadata: Array("diagnosis".utf8), body: Array(text.utf8))
        func cache(_ sealing: (any PayloadSealing)?) -> DiskCache { folder.cache(sealing: sealing) }
        let first = cache(sealing)
        try await first.store(entry, for: .named("a"))
        #expect(try await first.find(.named("a")) == entry)
        await first.close()
        #expect(try !folder.contains("hypertension") && !folder.contains("diagnosis"))
        let plain = cache(nil)
        #expect(try await plain.find(.named("a")) == nil)
        await plain.close()
        for unusable in [other, LockedSealing()] as [any PayloadSealing] {
            let wrong = cache(unusable)
            for _ in 0..<3 { #expect(try await wrong.find(.named("a")) == nil) }
            #expect(wrong.count == 1)
            await wrong.close()
        }
        // Reported once by each, and not as damage.
        #expect(folder.kinds == [.keyUnavailable, .keyUnavailable])
        let right = cache(sealing)
        #expect(try await right.find(.named("a")) == entry)
        await right.close()
        let locked = cache(LockedSealing())
        try await locked.store(entry, for: .named("a"))
        #expect(locked.count == 0 && folder.kinds == [.keyUnavailable, .keyUnavailable, .keyUnavailable])
        await locked.close()
    }
}
