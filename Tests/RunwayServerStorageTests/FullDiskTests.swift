import Foundation
import HTTPTypes
import RunwayServer
import Testing

@testable import RunwayServerStorage

/// A file system of a few megabytes, most of which something else takes.
struct ServerDisk {
    static let folder = ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"]

    let url: URL
    private var ballast: URL { url.appending(path: "ballast") }
    var file: URL { url.appending(path: "store/file.sqlite") }

    init(_ name: String, ballast byteCount: Int = 7 << 20) throws {
        url = URL(filePath: Self.folder ?? "").appending(path: name)
        try Data(count: byteCount).write(to: ballast)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    /// Has the ballast take what is free, but for so many bytes.
    func fill(leaving byteCount: Int) throws {
        let free = try FileManager.default.attributesOfFileSystem(forPath: url.path)[.systemFreeSize] as? NSNumber
        let ballast = try FileHandle(forWritingTo: ballast)
        try ballast.seekToEnd()
        try ballast.write(contentsOf: Data(count: max(0, (free?.intValue ?? 0) - byteCount)))
        try ballast.close()
    }

    func empty() throws { try FileManager.default.removeItem(at: ballast) }
}

/// What the stores of servers do on a file system that is really full, which `Scripts/full-disk.sh` mounts for each test.
@Suite(.enabled(if: ServerDisk.folder != nil, "Scripts/full-disk.sh mounts the disks"), .timeLimit(.minutes(5)))
struct ServerFullDiskTests {
    /// Makes attempts until five have failed, and returns how many succeeded.
    private func fill(_ attempt: (Int) async throws -> Void) async -> Int {
        var (count, kinds) = (0, [ServerStorageError.Kind?]())
        for _ in 0..<10_000 where kinds.count < 5 {
            do {
                try await attempt(count)
                count += 1
            } catch {
                kinds.append(error is StoreRefusal ? .full : (error as? ServerStorageError)?.kind)
            }
        }
        #expect(kinds == Array(repeating: .full, count: 5))
        #expect(count > 10)
        return count
    }

    @Test func acknowledgedBatchesAreThere() async throws {
        let disk = try ServerDisk("server-log", ballast: 0)
        let (installation, stream) = (UUID(), UUID())
        let ids = (0..<10_000).map { _ in UUID() }
        func batch(_ index: Int) -> ActionLogBatch {
            ActionLogBatch(
                installation: installation, stream: stream, number: Int64(index + 1), account: nil,
                records: [.init(id: ids[index], name: "opened", json: [UInt8](repeating: 65, count: 4000))])
        }
        var quotas = ActionLogQuotas()
        quotas.shareOfSource = 1
        let first = try SQLiteActionLogSink(at: disk.file, quotas: quotas)
        // What the write-ahead log needs, and a little more.
        try disk.fill(leaving: 5 << 20)
        let count = await fill { _ = try await first.store(batch($0)) }
        #expect(try ActionLogFile(at: disk.file).records(limit: 10_000).map(\.id) == Array(ids.prefix(count)))
        try await first.close()
        try disk.empty()
        let second = try SQLiteActionLogSink(at: disk.file, quotas: quotas)
        #expect(try await second.store(batch(count - 1)) == .known)
        #expect(try await second.store(batch(count)) == .stored(duplicates: []))
        #expect(try ActionLogFile(at: disk.file).records(limit: 10_000).map(\.id) == Array(ids.prefix(count + 1)))
        try await second.close()
    }

    @Test func strangerLeavesSpaceForOthersAndErasures() async throws {
        let disk = try ServerDisk("server-share", ballast: 0)
        let installation = UUID()
        func batch(of installation: UUID = UUID(), from source: String, _ byteCount: Int = 900_000) -> ActionLogBatch {
            let json = [UInt8](repeating: 65, count: byteCount)
            return ActionLogBatch(
                installation: installation, stream: UUID(), number: 1, account: nil,
                records: [.init(id: UUID(), name: "opened", json: json)], source: source)
        }
        let sink = try SQLiteActionLogSink(at: disk.file)
        for _ in 0..<2 { _ = try await sink.store(batch(of: installation, from: "ada", 300_000)) }
        var refused = 0
        for _ in 0..<100 {
            do { _ = try await sink.store(batch(from: "stranger")) } catch is StoreRefusal { refused += 1 }
        }
        #expect(refused > 95)
        let stored = try await sink.store(.init(1, stream: UUID(), [UUID()]))
        #expect(stored == .stored(duplicates: []))
        // Something else takes the last byte.
        try disk.fill(leaving: 0)
        await #expect(throws: StoreRefusal.self) { try await sink.store(.init(1, stream: UUID(), [UUID()])) }
        try await sink.erase(anonymousRecordsOf: installation)
        #expect(try ActionLogFile(at: disk.file).counts().allSatisfy { $0.installation != installation })
        try await sink.close()
        // A server that starts there can erase, too.
        try disk.fill(leaving: 0)
        let next = try SQLiteActionLogSink(at: disk.file)
        for count in try ActionLogFile(at: disk.file).counts() {
            try await next.erase(anonymousRecordsOf: count.installation)
        }
        #expect(try ActionLogFile(at: disk.file).counts().isEmpty)
        try await next.close()
    }

    @Test func storedResponsesAreReplayed() async throws {
        let disk = try ServerDisk("server-keys")
        let response = IdempotentResponse(status: 201, headerFields: [:], body: [UInt8](repeating: 65, count: 4000))
        let now = Date()
        func key(_ index: Int) -> IdempotencyKey { IdempotencyKey(principal: "ada", text: "\(index)") }
        func claim(_ store: SQLiteIdempotencyStore, _ index: Int, _ token: UUID) async throws -> IdempotencyClaim {
            try await store.claim(key(index), fingerprint: [1], token: token, at: now, lease: .seconds(60))
        }
        let first = try SQLiteIdempotencyStore(at: disk.file)
        var tokens: [Int: UUID] = [:]
        let count = await fill { index in
            let token = tokens[index] ?? UUID()
            // The claim may have succeeded in the attempt before.
            if tokens[index] == nil {
                let claimed = try await claim(first, index, token)
                #expect(claimed == .claimed)
            }
            tokens[index] = token
            let isStored = try await first.complete(key(index), token: token, with: response, until: now + 1000)
            #expect(isStored)
        }
        for index in 0..<count { #expect(try await claim(first, index, UUID()) == .completed(response)) }
        try await first.close()
        try disk.empty()
        let second = try SQLiteIdempotencyStore(at: disk.file)
        for index in 0..<count { #expect(try await claim(second, index, UUID()) == .completed(response)) }
        #expect(try await claim(second, 10_000, UUID()) == .claimed)
        try await second.close()
    }

    @Test func storedEventsAreThere() async throws {
        let disk = try ServerDisk("server-events")
        func events(_ index: Int) -> [PublishedEvent] {
            [PublishedEvent(topic: "a", data: "\(index) " + String(repeating: "x", count: 4000))]
        }
        let first = try SQLiteEventLog(file: disk.file)
        let epoch = try await first.range().epoch
        var (count, failures) = (0, 0)
        for _ in 0..<10_000 where failures < 5 {
            do {
                _ = try await first.append(events(count))
                count += 1
            } catch {
                failures += 1
            }
        }
        #expect(failures == 5 && count > 20)
        try disk.empty()
        let range = try await first.append(events(count))
        #expect(range == EventLogRange(epoch: epoch, first: 1, last: Int64(count + 1)))
        var found: [PublishedEvent] = []
        for _ in 0...count where found.count <= count {
            found += try await first.events(after: Int64(found.count), upTo: 10_000).events
        }
        #expect(found == (0...count).flatMap(events))
    }
}
