import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// What the stores do on a file system that is really full: nothing is lost that was acknowledged, and all of it arrives when there is space.
@Suite(.enabled(if: SmallDisk.folder != nil, "Scripts/full-disk.sh mounts the disks"), .timeLimit(.minutes(5)))
struct FullDiskTests {
    private static let phrase = "some text of 32 bytes, repeated "
    private let text = String(repeating: Self.phrase, count: 50)
    /// A disk of 32 MiB is full after about a thousand of them.
    private let longText = String(repeating: Self.phrase, count: 500)

    /// Makes attempts until five have failed, and returns the texts of those that succeeded.
    private func fill(_ attempt: (String) async -> StorageError?) async -> [String] {
        var (stored, failures) = ([String](), [StorageError.Kind]())
        for number in 0..<5000 where failures.count < 5 {
            if let failure = await attempt("\(number)") {
                failures.append(failure.kind)
            } else {
                stored.append("\(number)")
            }
        }
        #expect(failures == Array(repeating: .full, count: 5))
        #expect(stored.count > 10)
        return stored
    }

    private func isStored(_ text: String, in disk: SmallDisk) throws -> Bool {
        try FileManager.default.subpathsOfDirectory(atPath: disk.store.path).contains { path in
            let data = try? Data(contentsOf: disk.store.appending(path: path))
            return data?.firstRange(of: Data(text.utf8)) != nil
        }
    }

    private func record(_ name: String, _ text: String, in log: ActionLog) async -> StorageError? {
        do throws(StorageError) {
            try await log.record(name, ["text": .string(text)]).committed()
            return nil
        } catch {
            return error
        }
    }

    /// Opens a queue that has no limit below that of a small disk.
    private func openQueue(
        on disk: SmallDisk, _ server: NoteServer, _ status: SettableNetworkStatus
    ) -> (OfflineQueue, NetworkLayer) {
        var options = OfflineQueueOptions()
        (options.gap, options.maximumCount, options.maximumByteCount) = (.zero, 10_000, 64 << 20)
        let queue = OfflineQueue(at: disk.file, replaying: [ReplayedEndpoint(WriteNote.self)], options: options)
        let network = NetworkLayer(
            transport: server, limits: LayerLimits(admission: .none, retrying: .none), offlineQueue: queue,
            status: status)
        return (queue, network)
    }

    private func store(_ text: String, over network: NetworkLayer) async -> StorageError? {
        do throws(NetworkError) {
            _ = try await network.call(WriteNote(text))
            return StorageError(.rejected, "It was sent.")
        } catch {
            return error.kind == .queued ? nil : error.underlying as? StorageError
        }
    }

    /// On a disk without space for a reserve an erasure succeeds, or says that there is no space; then it succeeds later. It leaves nothing
    /// of a text.
    private func expectErasure(
        of text: String, on disk: SmallDisk, _ erase: () async throws(StorageError) -> Void
    ) async throws {
        #expect(try isStored(text, in: disk))
        try disk.fill()
        do throws(StorageError) {
            try await erase()
        } catch {
            #expect(error.kind == .full)
            try disk.empty()
            try await erase()
        }
        #expect(try !isStored(text, in: disk))
    }

    @Test func actionLogSendsEachRecordOnce() async throws {
        let disk = try SmallDisk("log")
        let fixture = LogFixture()
        func open() -> ActionLog {
            var options = ActionLogOptions()
            options.gap = .zero
            return ActionLog(
                at: disk.file, sendingTo: LogService.self, at: "log", over: fixture.network, options: options)
        }
        fixture.status.set(.none)
        let first = open()
        let stored = await fill { await record($0, text, in: first) }
        // What was not stored waits in memory, until this run ends.
        #expect(await first.currentState.bufferedCount == 5)
        await first.close()
        let second = open()
        fixture.status.set(.wifi)
        // Batches are sent, and the disk may have no room to remember that they arrived.
        for _ in 0..<3 { await second.flush() }
        try disk.empty()
        try await fixture.drain(second, upTo: stored.count)
        try await waitUntil("an empty log") {
            await second.flush()
            return await second.currentState.waitingCount == 0
        }
        let state = await second.currentState
        #expect(state.unreadableFiles.isEmpty && state.lost.isEmpty && state.setAsideCount == 0)
        #expect(fixture.server.countsOnce)
        #expect(fixture.server.names == stored)
        fixture.status.set(.none)
        try await second.record("erased").committed()
        try await expectErasure(of: "erased", on: disk) { () throws(StorageError) in
            try await second.erase(account: "")
        }
        #expect(await second.currentState.waitingCount == 0)
        await second.close()
    }

    @Test func offlineQueueSendsEachChangeOnce() async throws {
        let disk = try SmallDisk("queue")
        let (server, status) = (NoteServer(), SettableNetworkStatus(.none))
        let (first, network) = openQueue(on: disk, server, status)
        let stored = await fill { await store("\($0) \(text)", over: network) }
        #expect(first.currentState.problem?.kind == .full)
        await first.close()
        let (second, laterNetwork) = openQueue(on: disk, server, status)
        status.set(.wifi)
        for _ in 0..<3 { await second.flush() }
        try disk.empty()
        try await waitUntil("an empty queue") {
            await second.flush()
            return try await second.changes().isEmpty
        }
        #expect(second.currentState.unreadableFiles.isEmpty && second.currentState.damagedCount == 0)
        #expect(server.texts.map { String($0.prefix { $0 != " " }) } == stored)
        status.set(.none)
        let error = await #expect(throws: NetworkError.self) { try await laterNetwork.call(WriteNote("erased")) }
        #expect(error?.kind == .queued)
        // Texts and bodies are stored in Base64.
        try await expectErasure(of: WriteNote.name, on: disk) { () throws(StorageError) in
            try await second.erase(account: nil)
        }
        #expect(try await second.changes().isEmpty)
        // A queue sends for as long as its layer exists.
        withExtendedLifetime(laterNetwork) {}
        await second.close()
    }

    /// More is removed than the reserve has, in the run that filled the disk and in a later one.
    @Test func fullActionLogErasesAndOptsOut() async throws {
        let disk = try SmallDisk("log-erasure")
        let fixture = LogFixture()
        fixture.status.set(.none)
        func open() -> ActionLog {
            ActionLog(at: disk.file, sendingTo: LogService.self, at: "log", over: fixture.network)
        }
        let first = open()
        _ = await fill { await record($0, longText, in: first) }
        try disk.fill()
        #expect(try isStored(Self.phrase, in: disk))
        try await first.erase(account: "")
        #expect(try !isStored(Self.phrase, in: disk))
        #expect(await first.currentState.waitingCount == 0)
        try disk.empty()
        _ = await fill { await record($0, longText, in: first) }
        try disk.fill()
        await first.close()
        #expect(try isStored(Self.phrase, in: disk))
        let second = open()
        try await second.setOptedOut(true)
        #expect(try !isStored(Self.phrase, in: disk))
        let state = await second.currentState
        #expect(state.isOptedOut && state.waitingCount == 0 && state.unreadableFiles.isEmpty)
        await second.close()
    }

    /// An erasure of a full queue uses the reserve.
    @Test func fullOfflineQueueErases() async throws {
        let disk = try SmallDisk("queue-erasure")
        let (server, status) = (NoteServer(), SettableNetworkStatus(.none))
        let (first, network) = openQueue(on: disk, server, status)
        _ = await fill { await store("\($0) \(longText)", over: network) }
        try disk.fill()
        #expect(try isStored(WriteNote.name, in: disk))
        try await first.erase(account: nil)
        #expect(try !isStored(WriteNote.name, in: disk))
        #expect(try await first.changes().isEmpty)
        try disk.empty()
        _ = await fill { await store("\($0) \(longText)", over: network) }
        try disk.fill()
        await first.close()
        #expect(try isStored(WriteNote.name, in: disk))
        let (second, laterNetwork) = openQueue(on: disk, server, status)
        try await second.erase(account: nil)
        #expect(try !isStored(WriteNote.name, in: disk))
        #expect(try await second.changes().isEmpty && second.currentState.unreadableFiles.isEmpty)
        withExtendedLifetime((network, laterNetwork)) {}
        await second.close()
    }

    @Test func diskCacheFindsWhatItStored() async throws {
        let disk = try SmallDisk("cache")
        let reports = AsyncStream<StorageError>.makeStream()
        func open() -> DiskCache { DiskCache(in: disk.store) { reports.continuation.yield($0) } }
        func entry(_ number: Int) -> CacheTierEntry {
            .numbered(number, byteCount: number.isMultiple(of: 2) ? 4000 : 30_000)
        }
        let first = open()
        var (stored, failures) = ([Int](), 0)
        for number in 0..<5000 where failures < 5 {
            do {
                try await first.store(entry(number), for: .named("\(number)"))
                stored.append(number)
            } catch {
                failures += 1
            }
        }
        #expect(failures == 5 && stored.count > 10)
        func check(_ cache: DiskCache) async throws {
            for number in stored { #expect(try await cache.find(.named("\(number)")) == entry(number)) }
        }
        try await check(first)
        await first.close()
        try disk.empty()
        let second = open()
        try await check(second)
        try await second.store(entry(6001), for: .named("6001"))
        #expect(try await second.find(.named("6001")) == entry(6001))
        await second.close()
        for isOpen in [true, false] { try await expectClear(on: disk, isOpen: isOpen) }
        reports.continuation.finish()
        var kinds: [StorageError.Kind] = []
        for await report in reports.stream { kinds.append(report.kind) }
        // A smaller response may have been stored between two failures.
        #expect((1...5).contains(kinds.count) && Set(kinds) == [.unavailable])
    }

    /// A clear needs no space, whether the cache is open or of an earlier run.
    private func expectClear(on disk: SmallDisk, isOpen: Bool) async throws {
        var cache = DiskCache(in: disk.store)
        let secret = CacheTierEntry(metadata: Array("metadata".utf8), body: Array("the secret of ann".utf8))
        try await cache.store(secret, for: .named("a", account: "ann"))
        // The write-ahead log is empty from now on, so that moving it makes no room.
        try await cache.apply([.clear(.account("bob", service: nil))])
        if !isOpen {
            await cache.close()
            cache = DiskCache(in: disk.store)
        }
        #expect(try isStored("the secret of ann", in: disk))
        try disk.fill()
        try await cache.apply([.clear(.account("ann", service: nil))])
        #expect(try !isStored("the secret of ann", in: disk))
        try disk.empty()
        try await cache.store(secret, for: .named("b"))
        #expect(try await cache.find(.named("b")) == secret)
        await cache.close()
    }
}
