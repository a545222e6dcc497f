import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway
@testable import RunwayJSON

struct CacheBoundsTests {
    @Test func theLeastRecentlyUsedGoesFirst() async throws {
        let layer = CachedLayer(cache: CacheLimits(maximumCount: 2))
        #expect(try await layer.number(Work(id: 1)) == 1)
        #expect(try await layer.number(Work(id: 2)) == 2)
        #expect(try await layer.number(Work(id: 1)) == 1)
        #expect(try await layer.number(Work(id: 3)) == 3)
        #expect(try await layer.number(Work(id: 1)) == 1)
        #expect(try await layer.number(Work(id: 2)) == 4)
        #expect(layer.network.cache.count == 2)
    }

    @Test func responsesStayUntilTheByteLimit() async throws {
        let layer = CachedLayer(cache: CacheLimits(maximumByteCount: 20_000))
        layer.server.respond(with: .success(.bytes([UInt8](repeating: 7, count: 9_000))))
        let options = CallOptions.policy(.untilEvicted())
        for id in 1...2 { _ = try await layer.network.call(Work(id: id), options: options) }
        layer.clock.advance(by: .seconds(86_400 * 365 * 50))
        for id in 1...2 { #expect(try await layer.network.call(Work(id: id), options: options).source == .cache) }
        _ = try await layer.network.call(Work(id: 3), options: options)
        #expect(layer.network.cache.count == 2 && layer.network.cache.byteCount <= 20_000)
        #expect(try await layer.network.call(Work(id: 1), options: options).source == .network)
    }

    @Test func responseLargerThanTheCacheIsNotStored() async throws {
        let layer = CachedLayer(cache: CacheLimits(maximumByteCount: 5_000))
        layer.server.respond(with: .success(.bytes([UInt8](repeating: 7, count: 6_000))))
        #expect(try await layer.network.call(Work()).bytes.count == 6_000)
        let decisions = await layer.lastDecisions()
        #expect(decisions.count == 2)
        guard case .tooLarge(let byteCount) = decisions.last else { return #expect(Bool(false), "\(decisions)") }
        #expect(byteCount > 6_000 && layer.network.cache.count == 0)
    }

    @Test(arguments: [CacheLimits(maximumCount: 0), CacheLimits(maximumByteCount: -1)])
    func aCacheWithoutCapacityStoresNothing(limits: CacheLimits) async throws {
        let layer = CachedLayer(cache: limits)
        #expect(try await layer.number(Work()) == 1)
        #expect(try await layer.number(Work()) == 2)
    }

    @Test func headerFieldsAndKeysCount() async throws {
        let layer = CachedLayer()
        var response = Response.bytes([])
        response.head.headerFields[.server] = String(repeating: "s", count: 5_000)
        response = Response(head: response.head, body: .whole(RawData([], response: response.head)))
        layer.server.respond(with: .success(response))
        _ = try await layer.network.call(Work(fields: ["X-Long": String(repeating: "k", count: 3_000)]))
        #expect(layer.network.cache.byteCount > 8_000)
    }

    @Test func hitSharesBytesAndIndex() async throws {
        let layer = CachedLayer()
        let first = try await layer.network.call(Work())
        let values = [first.json, try await layer.network.call(Work()).json]
        let second = try await layer.network.call(Work())
        let addresses = [first, second].map { $0.bytes.withUnsafeBytes(\.baseAddress) }
        #expect(addresses[0] == addresses[1])
        #expect(Set((values + [second.json]).map { ObjectIdentifier($0.storage) }).count == 1)
    }

    @Test func memoryPressureEvictsHalfOrAll() async throws {
        let layer = CachedLayer()
        for id in 1...8 { _ = try await layer.network.call(Work(id: id)) }
        layer.network.cache.relieveMemory()
        #expect(layer.network.cache.count == 4)
        #expect(try await layer.network.call(Work(id: 8)).source == .cache, "the most recently used stay")
        layer.network.cache.trim(toCount: 3)
        #expect(layer.network.cache.count == 3)
        layer.network.cache.trim(byteCount: layer.network.cache.byteCount - 1)
        #expect(layer.network.cache.count == 2)
        layer.network.cache.trim(toCount: -1)
        layer.network.cache.trim(byteCount: -1)
        #expect(layer.network.cache.count == 0 && layer.network.cache.byteCount == 0)
        _ = try await layer.network.call(Work())
        layer.network.cache.relieveMemory(isCritical: true)
        #expect(layer.network.cache.count == 0)
    }
}
