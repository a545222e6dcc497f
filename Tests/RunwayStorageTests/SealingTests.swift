import Crypto
import Foundation
import Runway
import RunwayTesting
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

    @Test func recordsOfAnotherKeyAreSetAsideUntilItReturns() async throws {
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
        #expect(refused.map(\.json) == [[]] && refused[0].reason.contains("decrypted"))
        let state = try await log.state()
        #expect(state.setAsideCount == 1 && state.lost == [:])
        await log.close()
        log = fixture.open { $0.sealing = sealing }
        await log.flush()
        try await waitUntil("the sealed record") { fixture.server.names == ["of the other key", "sealed"] }
        await log.close()
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
        let state = try await log.state()
        #expect(state.bufferedCount == 1 && state.waitingCount == 0)
        #expect(try !isPlain("\"a\"", in: fixture.folder.url))
        await log.close()
    }

    @Test func sealedEntryDoesNotOpenInThePlaceOfAnother() throws {
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
        #expect(try await wrong.queue.changes().map(\.state) == [.refused])
        #expect(wrong.queue.currentState.undecidedCount == 1 && first.server.texts.isEmpty)
        await wrong.queue.close()
        let right = QueueFixture(first.server, in: first.folder) { $0.sealing = sealing }
        try await right.drain()
        #expect(first.server.texts == ["hypertension"])
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
        let right = cache(sealing)
        #expect(try await right.find(.named("a")) == entry)
        await right.close()
        let wrong = cache(other)
        #expect(try await wrong.find(.named("a")) == nil)
        #expect(wrong.count == 0 && folder.reports.count == 1)
        await wrong.close()
        let locked = cache(LockedSealing())
        try await locked.store(entry, for: .named("a"))
        #expect(locked.count == 0 && folder.reports.count == 2)
        await locked.close()
    }
}
