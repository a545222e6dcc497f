import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

struct DiskCacheTests {
    private let folder = CacheFolder()

    @Test(arguments: [0, 1, 100, 16 << 10, 50_000, 3 << 20]) func entriesOutliveTheirCache(byteCount: Int) async throws
    {
        let entry = CacheTierEntry.numbered(1, byteCount: byteCount)
        let first = folder.cache()
        try await first.store(entry, for: .named("a"))
        #expect(try await first.find(.named("a")) == entry)
        #expect(try await first.find(.named("b")) == nil)
        await first.close()
        let second = folder.cache()
        #expect(try await second.find(.named("a")) == entry)
        #expect(second.count == 1 && second.byteCount == byteCount + entry.metadata.count + 512)
        #expect(folder.reports.isEmpty)
    }

    @Test func missesAreKnownFromTheIndex() async throws {
        let cache = folder.cache()
        #expect(cache.mayHold(.named("a")), "the index was not read yet")
        try await cache.store(.numbered(1, byteCount: 10), for: .named("a"))
        #expect(cache.mayHold(.named("a")) && !cache.mayHold(.named("b")))
        try await cache.apply([.remove(.named("a"))])
        #expect(!cache.mayHold(.named("a")))
    }

    @Test func aNewEntryReplacesTheOldOne() async throws {
        let cache = folder.cache()
        for (number, byteCount) in [(1, 10), (2, 40_000), (3, 50_000), (4, 20)] {
            let entry = CacheTierEntry.numbered(number, byteCount: byteCount)
            try await cache.store(entry, for: .named("a"))
            #expect(try await cache.find(.named("a")) == entry)
            #expect(cache.count == 1)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path).isEmpty)
    }

    @Test func changesOfOneBatchApplyInTheirOrder() async throws {
        let cache = folder.cache()
        let (first, second) = (CacheTierEntry.numbered(1, byteCount: 30_000), CacheTierEntry.numbered(2, byteCount: 10))
        try await cache.apply([
            .store(first, for: .named("a")), .store(second, for: .named("a")), .store(first, for: .named("b")),
            .remove(.named("b")), .store(first, for: .named("c")), .clear(.everything), .store(first, for: .named("d")),
        ])
        for (name, entry) in [("a", nil), ("b", nil), ("c", nil), ("d", first)] as [(String, CacheTierEntry?)] {
            #expect(try await cache.find(.named(name)) == entry, "\(name)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path).count == 1)
    }

    @Test func accountsAreSeparateAndErasedApart() async throws {
        let cache = folder.cache()
        for (number, account) in ["ann", "bob", nil].enumerated() {
            try await cache.store(.numbered(number, byteCount: 100), for: .named("a", account: account))
            try await cache.store(.numbered(number, byteCount: 20_000), for: .named("b", account: account))
        }
        try await cache.apply([.clear(.account("ann", service: nil))])
        #expect(try await cache.find(.named("a", account: "ann")) == nil)
        #expect(try await cache.find(.named("a", account: "bob")) == .numbered(1, byteCount: 100))
        #expect(try await cache.find(.named("b")) == .numbered(2, byteCount: 20_000))
        try await cache.apply([.removeTarget("https://shelf.test/b")])
        #expect(try await cache.find(.named("b", account: "bob")) == nil)
        #expect(try await cache.find(.named("b")) == nil)
        #expect(cache.count == 2)
    }

    @Test func aClearLeavesNoByteInTheFiles() async throws {
        let cache = folder.cache()
        for byteCount in [100, 12_000, 60_000] {
            var entry = CacheTierEntry.numbered(byteCount, byteCount: byteCount)
            entry.body += Array("the secret of ann".utf8)
            // Replaced once, so that an older row was deleted before the clear.
            for _ in 1...2 { try await cache.store(entry, for: .named("\(byteCount)", account: "ann")) }
            try await cache.store(.numbered(1, byteCount: byteCount), for: .named("\(byteCount)", account: "bob"))
        }
        #expect(try folder.contains("the secret of ann"))
        try await cache.apply([.clear(.account("ann", service: nil))])
        #expect(try !folder.contains("the secret of ann"))
        #expect(cache.count == 3)
    }

    @Test func aClearOfEverythingCutsTheDatabase() async throws {
        let cache = folder.cache()
        func byteCount() throws -> Int { try folder.database.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
        try await cache.apply((0..<150).map { .store(.numbered($0, byteCount: 15_000), for: .named("\($0)")) })
        try await cache.apply([.clear(.account("ann", service: nil))])
        #expect(try byteCount() > 2 << 20)
        try await cache.apply([.clear(.everything)])
        #expect(try byteCount() < 1 << 20)
        try await cache.store(.numbered(1, byteCount: 10), for: .named("a"))
        #expect(try await cache.find(.named("a")) == .numbered(1, byteCount: 10))
    }

    @Test func keysAndTheirSecretsAreNotStored() async throws {
        let cache = folder.cache()
        try await cache.store(.numbered(1, byteCount: 10), for: .named("a?token=s3cret"))
        #expect(try !folder.contains("s3cret"))
        #expect(try await cache.find(.named("a?token=s3cret")) != nil)
    }

    @Test func unusualKeysAreDistinguished() async throws {
        let cache = folder.cache()
        let names = [
            String(repeating: "x", count: 1 << 20), "\u{0}", "\u{0}\u{0}", "e\u{301}", "\u{e9}", "%FF%FE", "'; --", "",
        ]
        for (number, name) in names.enumerated() {
            try await cache.store(.numbered(number, byteCount: 10), for: .named("k", account: name))
        }
        for (number, name) in names.enumerated() {
            #expect(try await cache.find(.named("k", account: name)) == .numbered(number, byteCount: 10))
        }
        #expect(try await cache.find(.named("k")) == nil)
    }

    @Test func theLeastRecentlyUsedGoFirstAcrossLaunches() async throws {
        let limits = DiskCacheLimits(maximumCount: 3)
        let first = folder.cache(limits)
        for name in ["a", "b", "c"] { try await first.store(.numbered(1, byteCount: 10), for: .named(name)) }
        #expect(try await first.find(.named("a")) != nil)
        await first.close()
        let second = folder.cache(limits)
        try await second.store(.numbered(1, byteCount: 10), for: .named("d"))
        #expect(try await second.find(.named("b")) == nil)
        #expect(try await second.find(.named("a")) != nil)
        #expect(second.count == 3)
    }

    @Test func anEntryBeyondTheLimitIsNotStored() async throws {
        let cache = folder.cache(DiskCacheLimits(maximumByteCount: 20_000))
        try await cache.store(.numbered(1, byteCount: 10), for: .named("a"))
        try await cache.store(.numbered(2, byteCount: 20_000), for: .named("a"))
        #expect(try await cache.find(.named("a")) == nil, "an older response must not stay")
        #expect(cache.count == 0)
        await cache.close()
        let none = folder.cache(DiskCacheLimits(maximumCount: 0))
        try await none.store(.numbered(1, byteCount: 10), for: .named("a"))
        #expect(try await none.find(.named("a")) == nil)
    }

    @Test func smallerLimitsApplyToWhatIsStored() async throws {
        let first = folder.cache()
        for number in 0..<10 { try await first.store(.numbered(number, byteCount: 20_000), for: .named("\(number)")) }
        await first.close()
        let second = folder.cache(DiskCacheLimits(maximumCount: 4))
        #expect(try await second.find(.named("5")) == nil)
        #expect(try await second.find(.named("6")) != nil)
        #expect(second.count == 4)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path).count == 4)
    }

    @Test func filesAreTheUsersAlone() async throws {
        let cache = folder.cache()
        try await cache.store(.numbered(1, byteCount: 50_000), for: .named("a"))
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) + [""] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: path).path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(path)")
        }
    }

    @Test func oneCacheAtATimeHasTheFolder() async throws {
        let (first, second) = (folder.cache(), folder.cache())
        try await first.store(.numbered(1, byteCount: 10), for: .named("a"))
        await #expect(throws: DiskCacheError.self) { try await second.find(.named("a")) }
        await #expect(throws: DiskCacheError.self) { try await second.apply([.clear(.everything)]) }
        await first.close()
        await #expect(throws: DiskCacheError.self) { try await first.find(.named("a")) }
        #expect(try await second.find(.named("a")) == .numbered(1, byteCount: 10))
    }
}
