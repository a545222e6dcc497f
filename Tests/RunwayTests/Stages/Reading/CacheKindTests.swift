import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

extension CacheKind {
    fileprivate static let images = CacheKind("images")
    fileprivate static let films = CacheKind("films")
}

/// A large response with a budget of its own.
private struct Picture: Endpoint {
    static let service = Gallery.self
    static let coalesces = false
    static let cache = CachePolicy.untilEvicted()
    static let cacheKind = CacheKind.images
    var path: EndpointPath { "pictures" }
    var id = 1
}

/// A response of a kind that no limit names.
private struct Trailer: Endpoint {
    static let service = Gallery.self
    static let cache = CachePolicy.untilEvicted()
    static let cacheKind = CacheKind.films
    var path: EndpointPath { "trailers" }
    var id = 1
}

/// Budgets of the cache in memory by kind.
struct CacheKindTests {
    private static let limits = CacheLimits(
        maximumByteCount: 20_000, maximumByteCountByKind: [.images: 50_000], maximumHTTPByteCount: 20_000)

    private func layer(_ limits: CacheLimits = Self.limits, field: String? = nil) -> CachedLayer {
        let layer = CachedLayer(cache: limits)
        var response = Response.bytes([UInt8](repeating: 7, count: 9_000))
        if let field {
            response.head.headerFields[.cacheControl] = field
            response = Response(head: response.head, body: response.body)
        }
        layer.server.respond(with: .success(response))
        return layer
    }

    private func isStored<E: Endpoint>(_ endpoint: E, in layer: CachedLayer, _ policy: CachePolicy) async -> Bool {
        (try? await layer.network.call(endpoint, options: .policy(policy, .onlyIfCached))) != nil
    }

    @Test(arguments: [CachePolicy.timeToLive(), .untilEvicted(), .http()])
    func imagesEvictNoDetails(policy: CachePolicy) async throws {
        let layer = layer(field: "max-age=600")
        for id in 1...2 { _ = try await layer.network.call(Work(id: id), options: .policy(policy)) }
        for id in 1...20 { _ = try await layer.network.call(Picture(id: id), options: .policy(policy)) }
        for id in 1...2 { #expect(await isStored(Work(id: id), in: layer, policy)) }
        for id in 16...20 { #expect(await isStored(Picture(id: id), in: layer, policy)) }
        #expect(await !isStored(Picture(id: 15), in: layer, policy), "a kind evicts its own")
        #expect(layer.network.cache.count == 7 && layer.network.cache.byteCount <= 70_000)
    }

    @Test func withoutABudgetTheyShareOne() async throws {
        let layer = layer(CacheLimits(maximumByteCount: 20_000))
        _ = try await layer.network.call(Work())
        for id in 1...2 { _ = try await layer.network.call(Picture(id: id)) }
        #expect(await !isStored(Work(), in: layer, .timeToLive()))
    }

    @Test func unnamedKindUsesTheCommonBudget() async throws {
        let layer = layer()
        _ = try await layer.network.call(Work())
        for id in 1...2 { _ = try await layer.network.call(Trailer(id: id)) }
        #expect(await !isStored(Work(), in: layer, .timeToLive()))
    }

    @Test(arguments: [CachePolicy.untilEvicted(), .http()])
    func responseLargerThanItsBudgetIsNotStored(policy: CachePolicy) async throws {
        let limits = CacheLimits(maximumByteCountByKind: [.images: 5_000, .films: -1])
        let layer = layer(limits, field: "max-age=600")
        _ = try await layer.network.call(Picture(), options: .policy(policy))
        _ = try await layer.network.call(Trailer(), options: .policy(policy))
        #expect(layer.network.cache.count == 0)
        _ = try await layer.network.call(Work(), options: .policy(policy))
        #expect(layer.network.cache.count == 1)
    }

    @Test func clearsConcernEveryKind() async throws {
        let layer = layer()
        _ = try await layer.network.call(Work())
        _ = try await layer.network.call(Picture())
        #expect(layer.network.cache.count == 2)
        layer.network.cache.clear(Picture.self)
        #expect(layer.network.cache.count == 1)
        _ = try await layer.network.call(Picture())
        layer.network.cache.clear(Gallery.self)
        #expect(layer.network.cache.count == 0)
    }

    @Test func memoryPressureConcernsEveryKind() async throws {
        let layer = layer(CacheLimits(maximumByteCountByKind: [.images: 1 << 20]))
        for id in 1...4 {
            _ = try await layer.network.call(Work(id: id))
            _ = try await layer.network.call(Picture(id: id))
        }
        layer.network.cache.relieveMemory()
        // Half of the bytes of each kind, which may be less than half of its responses.
        #expect((2...4).contains(layer.network.cache.count))
        #expect(await isStored(Work(id: 4), in: layer, .timeToLive()))
        #expect(await isStored(Picture(id: 4), in: layer, .untilEvicted()))
        layer.network.cache.relieveMemory(isCritical: true)
        #expect(layer.network.cache.count == 0)
    }
}
