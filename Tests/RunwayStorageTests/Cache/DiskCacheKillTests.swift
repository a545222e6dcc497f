import Foundation
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// A process that is killed while it writes.
struct DiskCacheKillTests {
    private static let keyCount = 8

    /// How many stores of this process have returned.
    private final class Progress: Sendable {
        let count = Atomic(0)
    }

    private static func entry(_ number: Int) -> CacheTierEntry {
        .numbered(number, byteCount: [100, 5_000, 30_000][number % 3])
    }

    @Test(arguments: 1...4) func aKilledWriterLeavesWholeEntries(round: Int) async throws {
        let folder = CacheFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let acknowledged = folder.url.appending(path: "acknowledged")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.url.path as String] in
            try await DiskCacheKillTests.write(in: URL(filePath: path))
        }
        let count = try Data(contentsOf: acknowledged).count
        #expect(count > 0)
        let cache = folder.cache()
        var largeCount = 0
        for key in 0..<min(Self.keyCount, count) {
            // The entry whose store had returned last, or one that was being stored.
            let last = count - 1 - (count - 1 - key) % Self.keyCount
            let found = try #require(try await cache.find(.named("\(key)")))
            let number = [last, last + Self.keyCount].first { found == Self.entry($0) }
            #expect(number != nil, "key \(key) after \(count) stores")
            if found.body.count > DiskCacheEntry.maximumRowByteCount { largeCount += 1 }
        }
        #expect(cache.count >= min(Self.keyCount, count) && cache.count <= Self.keyCount)
        #expect(folder.reports.isEmpty)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path).count
        #expect(files >= largeCount && files <= largeCount + 1)
    }

    /// Stores entries until another thread of this process kills it.
    private static func write(in folder: URL) async throws {
        let cache = DiskCache(in: folder)
        let progress = Progress()
        let last = Int.random(in: 3...60)
        let acknowledged = folder.appending(path: "acknowledged").path
        let file = open(acknowledged, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled, progress.count.load(ordering: .relaxed) < last { await Task.yield() }
                kill(getpid(), SIGKILL)
            }
            for number in 0..<1_000_000 {
                try await cache.store(entry(number), for: .named("\(number % keyCount)"))
                var byte: UInt8 = 1
                _ = Foundation.write(file, &byte, 1)
                progress.count.wrappingAdd(1, ordering: .relaxed)
            }
            try await group.waitForAll()
        }
    }
}
