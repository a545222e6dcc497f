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

    init(_ name: String) throws {
        url = URL(filePath: Self.folder ?? "").appending(path: name)
        try Data(count: 7 << 20).write(to: ballast)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
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
                kinds.append((error as? ServerStorageError)?.kind)
            }
        }
        #expect(kinds == Array(repeating: .full, count: 5))
        #expect(count > 10)
        return count
    }

    @Test func acknowledgedBatchesAreThere() async throws {
        let disk = try ServerDisk("server-log")
        let (installation, stream) = (UUID(), UUID())
        let ids = (0..<10_000).map { _ in UUID() }
        func batch(_ index: Int) -> ActionLogBatch {
            ActionLogBatch(
                installation: installation, stream: stream, number: Int64(index + 1), account: nil,
                records: [.init(id: ids[index], name: "opened", json: [UInt8](repeating: 65, count: 4000))])
        }
        let first = try SQLiteActionLogSink(at: disk.file)
        let count = await fill { _ = try await first.store(batch($0)) }
        #expect(try ActionLogFile(at: disk.file).records(limit: 10_000).map(\.id) == Array(ids.prefix(count)))
        try await first.close()
        try disk.empty()
        let second = try SQLiteActionLogSink(at: disk.file)
        #expect(try await second.store(batch(count - 1)) == .known)
        #expect(try await second.store(batch(count)) == .stored(duplicates: []))
        #expect(try ActionLogFile(at: disk.file).records(limit: 10_000).map(\.id) == Array(ids.prefix(count + 1)))
        try await second.close()
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
