import Foundation
import GRDB
import HTTPTypes

@testable import Runway
@testable import RunwayStorage

/// Measures the cache on disk beside bare rows and files, one operation at a time in random order.
enum CacheBenchmark {
    private static let count = 2_000
    private static let body = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    private static let entry = CacheTierEntry(metadata: Array("metadata".utf8), body: body)

    private enum Shelf: APIService {
        static let name = "shelf"
        static let environments: [ServiceEnvironment: String] = [.release: "https://shelf.test"]
    }

    static func run(in folder: URL) async throws {
        let row = try rows(folder.appending(path: "rows"))
        try files(folder.appending(path: "files"))
        let hit = try await cache(folder.appending(path: "cache"))
        Targets.expect("DiskCache.find of 50 KB against a row of SQLite", hit / row, atMost: 0.5, "×")
    }

    /// Returns the median.
    @discardableResult
    private static func measure(
        _ name: String, isShuffled: Bool, _ operation: (Int) throws -> Void
    ) rethrows -> Duration {
        let clock = ContinuousClock()
        let numbers = isShuffled ? (0..<count).shuffled() : Array(0..<count)
        return Times.report(name, try numbers.map { number in try clock.measure { try operation(number) } })
    }

    /// Returns the median of a read.
    private static func rows(_ folder: URL) throws -> Duration {
        let database = try StorageDatabase.open(at: folder.appending(path: "rows.sqlite"), durability: .normal)
        try database.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)") }
        try measure("SQLite row, write of 50 KB", isShuffled: false) { number in
            try database.write { database in
                let insert = try database.cachedStatement(sql: "INSERT INTO t VALUES (?, ?)")
                try insert.execute(arguments: [number, Data(body)])
            }
        }
        var median = Duration.zero
        for _ in 1...2 {
            median = try measure("SQLite row, read of 50 KB", isShuffled: true) { number in
                let bytes = try database.unsafeRead { database in
                    let select = try database.cachedStatement(sql: "SELECT bytes FROM t WHERE id = ?")
                    return try Data.fetchOne(select, arguments: [number]).map { Array($0) }
                }
                precondition(bytes?.count == body.count, "the row is there")
            }
        }
        return median
    }

    private static func files(_ folder: URL) throws {
        let files = try ContentFiles(folder)
        func entry(_ number: Int) -> DiskCacheEntry {
            DiskCacheEntry(
                id: Int64(number), key: CacheDigest([]), service: "", endpoint: nil, account: nil, target: nil,
                kind: .standard, metadataByteCount: 8, bodyByteCount: body.count, lastUse: 0)
        }
        try measure("file, write of 50 KB", isShuffled: false) { try files.create(Self.entry, Int64($0)) }
        for _ in 1...2 {
            try measure("file, read of 50 KB", isShuffled: true) {
                let content = try files.read(entry($0))
                precondition(content != nil, "the file is there")
            }
        }
        let one = entry(0)
        measure("checksum of 50 KB", isShuffled: true) { _ in
            precondition(one.contentChecksum(Self.entry) != 1, "the checksum is computed")
        }
    }

    private static func key(_ number: Int) -> CacheTierKey {
        CacheTierKey(
            HTTPCacheURI(HTTPRequest(method: .get, scheme: "https", authority: "shelf.test", path: "/\(number)")),
            CachePartition(service: Shelf.self, environment: .release, account: "ann"))
    }

    /// Returns the median of a hit.
    private static func cache(_ folder: URL) async throws -> Duration {
        var median = Duration.zero
        let cache = DiskCache(in: folder)
        let keys = (0..<count).map { key($0) }
        let clock = ContinuousClock()
        var times: [Duration] = []
        for key in keys { times.append(try await clock.measure { try await cache.apply([.store(entry, for: key)]) }) }
        Times.report("DiskCache.apply, one store of 50 KB", times)
        times = []
        for start in stride(from: 0, to: count, by: 32) {
            let batch = keys[start..<min(count, start + 32)].map { CacheTierChange.store(entry, for: $0) }
            times.append(try await clock.measure { try await cache.apply(batch) } / batch.count)
        }
        Times.report("DiskCache.apply, each of 32 stores of 50 KB", times)
        for _ in 1...2 {
            times = []
            for key in keys.shuffled() {
                times.append(
                    try await clock.measure {
                        let found = try await cache.find(key)
                        precondition(found?.body.count == body.count, "the entry is there")
                    })
            }
            median = Times.report("DiskCache.find, a hit of 50 KB", times)
        }
        times = []
        for number in 0..<count {
            times.append(try await clock.measure { _ = try await cache.find(key(-number - 1)) })
        }
        Times.report("DiskCache.find, a miss (and the key)", times)
        await cache.close()
        let store = try DiskCacheStore(folder) { _ in }
        var index = try store.load(DiskCacheLimits(), isSealed: false) { _ in }
        let digests = keys.map { CacheDigest($0.canonicalForm) }
        for _ in 1...2 {
            try measure("index, file and checksum, without a queue", isShuffled: true) { number in
                guard let entry = index.use(digests[number]) else { preconditionFailure("the entry is there") }
                let content = try store.read(entry)
                precondition(content != nil, "the content is there")
            }
        }
        store.close()
        return median
    }

    /// Opens a folder with as many responses as fit.
    static func opening(in folder: URL) async throws {
        let small = CacheTierEntry(metadata: Array("metadata".utf8), body: Array(body.prefix(2_000)))
        let cache = DiskCache(in: folder)
        for start in stride(from: 0, to: 10_000, by: 32) {
            try await cache.apply(
                (start..<min(10_000, start + 32)).map { .store($0.isMultiple(of: 2) ? small : entry, for: key($0)) })
        }
        await cache.close()
        let clock = ContinuousClock()
        var times: [Duration] = []
        for _ in 1...5 {
            let cache = DiskCache(in: folder)
            times.append(try await clock.measure { _ = try await cache.find(key(-1)) })
            await cache.close()
        }
        Times.report("open with \(cache.limits.maximumByteCount >> 20) MiB, 10,000 responses at most", times)
    }
}
