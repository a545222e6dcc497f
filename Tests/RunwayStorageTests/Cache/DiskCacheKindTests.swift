import Foundation
import GRDB
import HTTPTypes
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

extension CacheKind {
    fileprivate static let images = CacheKind("images")
}

/// Budgets of the cache on disk by kind.
struct DiskCacheKindTests {
    private let folder = CacheFolder()
    private let limits = DiskCacheLimits(
        maximumByteCount: 100_000, maximumByteCountByKind: [.images: 200_000])

    private func image(_ number: Int, byteCount: Int = 60_000) -> CacheTierEntry {
        var entry = CacheTierEntry.numbered(number, byteCount: byteCount)
        entry.kind = .images
        return entry
    }

    @Test func imagesEvictNoDetailsInAnyLaunch() async throws {
        var cache = folder.cache(limits)
        try await cache.store(.numbered(0, byteCount: 60_000), for: .named("details"))
        for number in 1...10 { try await cache.store(image(number), for: .named("image \(number)")) }
        for _ in 1...2 {
            #expect(try await cache.find(.named("details")) == .numbered(0, byteCount: 60_000))
            #expect(try await cache.find(.named("image 7")) == nil, "a kind evicts its own")
            for number in 8...10 { #expect(try await cache.find(.named("image \(number)")) == image(number)) }
            #expect(cache.count == 4 && cache.byteCount <= 300_000)
            await cache.close()
            cache = folder.cache(limits)
        }
        #expect(folder.reports.isEmpty)
    }

    @Test func kindWithoutItsBudgetSharesTheCommonOne() async throws {
        let cache = folder.cache(limits)
        for number in 1...3 { try await cache.store(image(number), for: .named("image \(number)")) }
        await cache.close()
        let later = folder.cache(DiskCacheLimits(maximumByteCount: 100_000))
        #expect(try await later.find(.named("image 3")) == image(3))
        #expect(later.count == 1)
    }

    @Test func anEntryMayChangeItsKind() async throws {
        let cache = folder.cache(limits)
        try await cache.store(.numbered(1, byteCount: 500), for: .named("a"))
        try await cache.store(image(2, byteCount: 500), for: .named("a"))
        #expect(try await cache.find(.named("a")) == image(2, byteCount: 500))
        #expect(cache.count == 1)
        try await cache.apply([.clear(.everything)])
        #expect(cache.count == 0)
    }

    @Test func aDatabaseOfAnEarlierVersionIsEmptied() async throws {
        let cache = folder.cache(limits)
        try await cache.store(.numbered(1, byteCount: 500), for: .named("a"))
        try await cache.store(.numbered(2, byteCount: 50_000), for: .named("b"))
        await cache.close()
        let database = try DatabaseQueue(path: folder.database.path)
        try await database.write {
            try $0.execute(sql: "ALTER TABLE entries DROP COLUMN kind; PRAGMA user_version = 1")
        }
        try database.close()
        var later = folder.cache(limits)
        #expect(try await later.find(.named("a")) == nil)
        #expect(later.count == 0 && later.byteCount == 0)
        try await later.store(image(2), for: .named("b"))
        await later.close()
        later = folder.cache(limits)
        #expect(try await later.find(.named("b")) == image(2))
        #expect(later.count == 1 && folder.reports.isEmpty)
    }

    @Test func aLayerStoresTheKindOfTheEndpoint() async throws {
        let cache = folder.cache(DiskCacheLimits(maximumByteCount: 100_000, maximumByteCountByKind: [.images: 0]))
        let transport = StubbedShelf.transport
        let network = NetworkLayer(transport: transport, pipeline: .tested, diskCache: cache)
        _ = try await network.call(StubbedShelf.Page(), options: CallOptions(cache: .untilEvicted(onDisk: true)))
        _ = try await network.call(StubbedShelf.Cover(), options: CallOptions(cache: .untilEvicted(onDisk: true)))
        _ = try await network.call(StubbedShelf.Cover(id: 2), options: CallOptions(cache: .http(onDisk: true)))
        _ = try await network.call(StubbedShelf.Page(id: 2), options: CallOptions(cache: .http(onDisk: true)))
        #expect(await network.cache.flush())
        #expect(cache.count == 2, "the images have no room")
    }
}

/// A layer's endpoints of two kinds.
private enum StubbedShelf {
    struct Page: Endpoint {
        static let service = Shelf.self
        var path: EndpointPath { "pages" }
        var id = 1
    }

    struct Cover: Endpoint {
        static let service = Shelf.self
        static let cacheKind = CacheKind.images
        var path: EndpointPath { "covers" }
        var id = 1
    }

    static var transport: StubTransport {
        StubTransport { _ throws(NetworkError) in
            var response = Response.json(#"{"n":1}"#)
            response.head.headerFields[.cacheControl] = "max-age=3600"
            return response
        }
    }
}
