import Foundation
import GRDB
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// Damage to the files: no crash, no wrong byte, and a cache that stores again.
struct DiskCacheDamageTests {
    private let folder = CacheFolder()
    private static let byteCounts = [10, 3_000, 15_000, 20_000, 60_000]

    /// Stores entries, and closes the cache, so that all is in the database.
    private func fill() async throws {
        let cache = folder.cache()
        for (number, byteCount) in Self.byteCounts.enumerated() {
            try await cache.store(.numbered(number, byteCount: byteCount), for: .named("\(number)", account: "ann"))
        }
        await cache.close()
    }

    /// Checks that nothing wrong is found, that a clear leaves nothing, and that the cache stores again.
    private func check(_ comment: Comment) async throws {
        let cache = folder.cache()
        for (number, byteCount) in Self.byteCounts.enumerated() {
            let found = await cache.found(.named("\(number)", account: "ann"))
            #expect(found == nil || found == .numbered(number, byteCount: byteCount), comment)
        }
        // A first attempt may find the damage.
        try? await cache.apply([.clear(.everything)])
        try await cache.apply([.clear(.everything)])
        #expect(cache.count == 0, comment)
        try? await cache.store(.numbered(9, byteCount: 20_000), for: .named("new"))
        try await cache.store(.numbered(9, byteCount: 20_000), for: .named("new"))
        #expect(try await cache.find(.named("new")) == .numbered(9, byteCount: 20_000), comment)
        await cache.close()
    }

    private func restore(_ files: [String: Data]) throws {
        try FileManager.default.removeItem(at: folder.url)
        for (path, data) in files {
            let url = folder.url.appending(path: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url)
        }
    }

    private func snapshot() throws -> [String: Data] {
        Dictionary(
            uniqueKeysWithValues: try folder.files().map { ($0, try Data(contentsOf: folder.url.appending(path: $0))) })
    }

    @Test func aTruncatedFileIsAMiss() async throws {
        try await fill()
        let files = try snapshot()
        for (path, data) in files where path != "lock" {
            let step = path == "cache.sqlite" ? 4096 : max(1, data.count / 5)
            for count in stride(from: 0, to: data.count, by: step) + [1, 100, data.count - 1] {
                try restore(files.merging([path: data.prefix(count)]) { $1 })
                try await check("\(path) has \(count) bytes")
            }
        }
    }

    @Test(arguments: 1...40) func flippedBytesAreAMiss(round: Int) async throws {
        try await fill()
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for (path, data) in try snapshot() where path != "lock" && !data.isEmpty {
            var data = data
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            try data.write(to: folder.url.appending(path: path))
        }
        try await check("seed \(seed)")
    }

    private func damageBodies() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path) {
            let url = folder.bodies.appending(path: name)
            var data = try Data(contentsOf: url)
            data[data.count / 2] ^= 1
            try data.write(to: url)
        }
    }

    @Test func reportMayAskTheCacheForItsCount() async throws {
        try await fill()
        try damageBodies()
        let reporting = Mutex<DiskCache?>(nil)
        let counts = Mutex<[Int?]>([])
        let cache = DiskCache(in: folder.url) { _ in
            let count = reporting.withLock { $0 }?.count
            counts.withLock { $0.append(count) }
        }
        reporting.withLock { $0 = cache }
        #expect(try await cache.find(.named("3", account: "ann")) == nil)
        #expect(counts.withLock { $0 } == [4])
        reporting.withLock { $0 = nil }
        await cache.close()
    }

    @Test func aDamagedBodyIsReportedAndRemoved() async throws {
        try await fill()
        try damageBodies()
        let cache = folder.cache()
        for number in [3, 4] { #expect(try await cache.find(.named("\(number)", account: "ann")) == nil) }
        #expect(folder.reports == ["A damaged response was removed.", "A damaged response was removed."])
        #expect(cache.count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path).isEmpty)
    }

    @Test func aBodyThatCannotBeOpenedStays() async throws {
        let cache = folder.cache()
        try await cache.store(.numbered(1, byteCount: 50_000), for: .named("a"))
        let (files, aside) = (FileManager.default, folder.url.appending(path: "aside"))
        try files.moveItem(at: folder.bodies, to: aside)
        try Data().write(to: folder.bodies)
        await #expect(throws: FileFailure.self) { _ = try await cache.find(.named("a")) }
        try files.removeItem(at: folder.bodies)
        try files.moveItem(at: aside, to: folder.bodies)
        #expect(try await cache.find(.named("a")) == .numbered(1, byteCount: 50_000))
        // The uses, which are written a second later, may fail, too.
        #expect(Set(folder.kinds) == [.unavailable])
    }

    @Test func swappedBodiesAreAMiss() async throws {
        let cache = folder.cache()
        for (number, name) in ["a", "b"].enumerated() {
            try await cache.store(.numbered(number, byteCount: 30_000), for: .named(name))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path)
        try #require(names.count == 2)
        let bodies = try names.map { try Data(contentsOf: folder.bodies.appending(path: $0)) }
        for (name, body) in zip(names, bodies.reversed()) { try body.write(to: folder.bodies.appending(path: name)) }
        for name in ["a", "b"] { #expect(try await cache.find(.named(name)) == nil) }
    }

    @Test func databaseOfANewerVersionIsSetAside() async throws {
        try await fill()
        let database = try DatabaseQueue(path: folder.database.path)
        try await database.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        try database.close()
        let cache = folder.cache()
        #expect(try await cache.find(.named("0", account: "ann")) == nil)
        #expect(folder.reports.count == 1 && folder.reports[0].contains("schema 99"))
        #expect(try folder.files().contains("set-aside/cache.sqlite"))
        try await cache.store(.numbered(1, byteCount: 10), for: .named("a"))
        #expect(try await cache.find(.named("a")) != nil)
        try await cache.apply([.clear(.account("ann", service: nil))])
        #expect(try !folder.files().contains("set-aside/cache.sqlite"), "what was set aside may be of the account")
    }

    @Test func folderThatCannotBeMadeIsAnError() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appending(path: "file")
        try Data("x".utf8).write(to: file)
        let cache = DiskCache(in: file.appending(path: "cache"))
        await #expect(throws: (any Error).self) { try await cache.find(.named("a")) }
        await #expect(throws: (any Error).self) { try await cache.store(.numbered(1, byteCount: 1), for: .named("a")) }
        #expect(cache.count == 0)
    }

    /// The system ends an app that is suspended while it holds a lock there.
    @Test func folderInAnAppGroupIsNotCreated() async throws {
        let group = folder.url.appending(path: "Containers/Shared/AppGroup/0F1E")
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        let cache = DiskCache(in: group.appending(path: "cache"))
        let error = await #expect(throws: DiskCacheError.self) { try await cache.find(.named("a")) }
        #expect(error?.description.contains("app group") == true)
        #expect(try folder.files().isEmpty)
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser may write everywhere")) func aReadOnlyFolderIsAnError()
        async throws
    {
        try await fill()
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.url.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: folder.database.path)
        let cache = folder.cache()
        await #expect(throws: (any Error).self) { try await cache.store(.numbered(1, byteCount: 1), for: .named("a")) }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.database.path)
    }

    @Test func fullDiskLosesOnlyWhatHasNoRoom() async throws {
        let cache = folder.cache()
        try await cache.store(.numbered(1, byteCount: 1_000), for: .named("a"))
        try await cache.limitDatabase(toPages: 12)
        await #expect(throws: DatabaseError.self) {
            try await cache.apply((0..<20).map { .store(.numbered($0, byteCount: 15_000), for: .named("\($0)")) })
        }
        #expect(try await cache.find(.named("a")) == .numbered(1, byteCount: 1_000))
        for number in 0..<20 { #expect(try await cache.find(.named("\(number)")) == nil) }
        // What has no room is not stored, and the clear is repeated without it.
        try await cache.limitDatabase(toPages: 12)
        let stores = (0..<20).map { number in
            CacheTierChange.store(.numbered(number, byteCount: 15_000), for: .named("\(number)"))
        }
        await #expect(throws: DatabaseError.self) {
            try await cache.apply([CacheTierChange.clear(.account("ann", service: nil))] + stores)
        }
        #expect(try await cache.find(.named("a")) == .numbered(1, byteCount: 1_000))
        #expect(cache.count == 1)
        try await cache.apply([.remove(.named("a"))])
        // The uses, which are written a second later, may succeed between the two failures.
        #expect(cache.count == 0 && Set(folder.kinds) == [.unavailable])
    }

    @Test func transientFailureIsReportedOnceUntilASuccess() async throws {
        let cache = folder.cache()
        func fill() async throws {
            try await cache.limitDatabase(toPages: 12)
            await #expect(throws: DatabaseError.self) {
                try await cache.apply((0..<20).map { .store(.numbered($0, byteCount: 15_000), for: .named("\($0)")) })
            }
        }
        for _ in 0..<3 { try await fill() }
        #expect(folder.kinds == [.unavailable])
        #expect(folder.reports[0].contains("no space for cache.sqlite"))
        try await cache.store(.numbered(1, byteCount: 10), for: .named("a"))
        #expect(cache.logByteCount > 0)
        try await fill()
        #expect(folder.kinds == [.unavailable, .unavailable])
        await cache.close()
    }

    @Test func folderInUseIsReportedOnce() async throws {
        let (first, second) = (folder.cache(), folder.cache())
        try await first.store(.numbered(1, byteCount: 10), for: .named("a"))
        for _ in 0..<3 { await #expect(throws: (any Error).self) { try await second.find(.named("a")) } }
        await #expect(throws: (any Error).self) { try await second.apply([.remove(.named("a"))]) }
        #expect(folder.kinds == [.unavailable] && folder.reports[0].contains("another process"))
        await first.close()
        #expect(try await second.find(.named("a")) == .numbered(1, byteCount: 10))
        await second.close()
        await #expect(throws: (any Error).self) { try await second.find(.named("a")) }
        #expect(folder.kinds == [.unavailable])
    }

    @Test func filesWithoutARowAreRemoved() async throws {
        try await fill()
        for name in ["77", "old"] { try Data("x".utf8).write(to: folder.bodies.appending(path: name)) }
        let cache = folder.cache()
        #expect(try await cache.find(.named("4", account: "ann")) != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path).count == 2)
    }
}
