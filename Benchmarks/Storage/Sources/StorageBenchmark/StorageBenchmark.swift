import Foundation
import GRDB
import HTTPTypes

@testable import Runway
@testable import RunwayStorage

/// Measures the cache on disk beside bare rows and files, each in a new folder, one operation at a time in random order.
@main
enum StorageBenchmark {
    private static let count = 2_000
    private static let body = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    private static let entry = CacheTierEntry(metadata: Array("metadata".utf8), body: body)

    enum Shelf: APIService {
        static let name = "shelf"
        static let environments: [ServiceEnvironment: String] = [.release: "https://shelf.test"]
    }

    static func main() async throws {
        let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? "measured")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try rows(folder.appending(path: "rows"))
        try files(folder.appending(path: "files"))
        try await cache(folder.appending(path: "cache"))
        try await opening(folder.appending(path: "many"))
        try FileManager.default.removeItem(at: folder)
    }

    private static func report(_ name: String, _ times: [Duration]) {
        let sorted = times.sorted()
        func text(_ time: Duration) -> String {
            String(
                format: "%8.1f µs", Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6)
        }
        let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
        print(name.padding(toLength: 44, withPad: " ", startingAt: 0), "p50", text(median), " p99", text(late))
    }

    private static func measure(_ name: String, isShuffled: Bool, _ operation: (Int) throws -> Void) rethrows {
        let clock = ContinuousClock()
        let numbers = isShuffled ? (0..<count).shuffled() : Array(0..<count)
        report(name, try numbers.map { number in try clock.measure { try operation(number) } })
    }

    private static func rows(_ folder: URL) throws {
        let database = try StorageDatabase.open(at: folder.appending(path: "rows.sqlite"), durability: .normal)
        try database.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)") }
        try measure("SQLite row, write of 50 KB", isShuffled: false) { number in
            try database.write { database in
                let insert = try database.cachedStatement(sql: "INSERT INTO t VALUES (?, ?)")
                try insert.execute(arguments: [number, Data(body)])
            }
        }
        for _ in 1...2 {
            try measure("SQLite row, read of 50 KB", isShuffled: true) { number in
                let bytes = try database.unsafeRead { database in
                    let select = try database.cachedStatement(sql: "SELECT bytes FROM t WHERE id = ?")
                    return try Data.fetchOne(select, arguments: [number]).map { Array($0) }
                }
                precondition(bytes?.count == body.count, "the row is there")
            }
        }
    }

    private static func files(_ folder: URL) throws {
        let files = try ContentFiles(folder)
        func entry(_ number: Int) -> DiskCacheEntry {
            DiskCacheEntry(
                id: Int64(number), key: CacheDigest([]), service: "", endpoint: nil, account: nil, target: nil,
                metadataByteCount: 8, bodyByteCount: body.count, lastUse: 0)
        }
        try measure("file, write of 50 KB", isShuffled: false) { try files.create(Self.entry, Int64($0)) }
        for _ in 1...2 {
            measure("file, read of 50 KB", isShuffled: true) {
                precondition(files.read(entry($0)) != nil, "the file is there")
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

    private static func cache(_ folder: URL) async throws {
        let cache = DiskCache(in: folder)
        let keys = (0..<count).map { key($0) }
        let clock = ContinuousClock()
        var times: [Duration] = []
        for key in keys { times.append(try await clock.measure { try await cache.apply([.store(entry, for: key)]) }) }
        report("DiskCache.apply, one store of 50 KB", times)
        times = []
        for start in stride(from: 0, to: count, by: 32) {
            let batch = keys[start..<min(count, start + 32)].map { CacheTierChange.store(entry, for: $0) }
            times.append(try await clock.measure { try await cache.apply(batch) } / batch.count)
        }
        report("DiskCache.apply, each of 32 stores of 50 KB", times)
        for _ in 1...2 {
            times = []
            for key in keys.shuffled() {
                times.append(
                    try await clock.measure {
                        let found = try await cache.find(key)
                        precondition(found?.body.count == body.count, "the entry is there")
                    })
            }
            report("DiskCache.find, a hit of 50 KB", times)
        }
        times = []
        for number in 0..<count {
            times.append(try await clock.measure { _ = try await cache.find(key(-number - 1)) })
        }
        report("DiskCache.find, a miss (and the key)", times)
        await cache.close()
        let store = try DiskCacheStore(folder) { _ in }
        var index = try store.load(DiskCacheLimits()) { _ in }
        let digests = keys.map { CacheDigest($0.canonicalForm) }
        for _ in 1...2 {
            try measure("index, file and checksum, without a queue", isShuffled: true) { number in
                guard let entry = index.use(digests[number]) else { preconditionFailure("the entry is there") }
                precondition(try store.read(entry) != nil, "the content is there")
            }
        }
        store.close()
    }

    private static func opening(_ folder: URL) async throws {
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
        report("open with \(cache.limits.maximumByteCount >> 20) MiB, 10,000 responses at most", times)
    }
}
