import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

struct ResponseOrderTests {
    private let layer = ParkedLayer()
    private let refresh = CallOptions(cacheUse: .refresh)

    @Test func olderResponseDoesNotReplaceANewerOne() async throws {
        async let older = layer.network.call(Work())
        let first = try await layer.arrival()
        async let newer = layer.network.call(Work(), options: refresh)
        let second = try await layer.arrival(besides: [first])
        layer.respond(second, 2)
        _ = try await newer
        layer.respond(first, 1)
        #expect(try await older["n"].int == 1, "it lands with its own caller")
        #expect(try await layer.network.call(Work())["n"].int == 2)
        let record = try await layer.records.records(count: 3).first { $0.id.number == first }
        #expect(record?.decisions(of: CacheDecision.self).last == .outdated)
    }

    @Test func aNewerResponseReplacesAnOlderOne() async throws {
        async let older = layer.network.call(Work())
        let first = try await layer.arrival()
        async let newer = layer.network.call(Work(), options: refresh)
        let second = try await layer.arrival(besides: [first])
        layer.respond(first, 1)
        _ = try await older
        layer.respond(second, 2)
        _ = try await newer
        #expect(try await layer.network.call(Work())["n"].int == 2)
    }

    @Test func storedGenerationsAreBounded() throws {
        var generations = ClearGenerations()
        let count = ClearGenerations.maximumCount * 2
        let keys = try (1...count).map { id in
            let flight = layer.network.makeFlight(Work.self, .standard)
            let request = try layer.network.assemble(Work(id: id), delivery: .whole(maximumByteCount: 1), in: flight)
            return try #require(CacheKey(request, in: flight))
        }
        for (index, key) in keys.enumerated() { generations.replace(key, by: UInt64(10 * index + 10)) }
        let last = UInt64(10 * count)
        #expect(!generations.allows(keys[count - 1], last - 1, from: last - 1))
        #expect(generations.allows(keys[count - 2], last - 1, from: last - 1))
        // The bound of a forgotten key applies to all: too little is stored, never an outdated response.
        #expect(!generations.allows(keys[0], 5, from: 5) && !generations.allows(keys[1], 15, from: 15))
        #expect(generations.allows(keys[0], last + 1, from: last + 1))
    }

    /// A call that joins the request of an earlier one receives a response that is older than itself.
    @Test func whatCountsIsTheRequestThatFetchedIt() throws {
        let flight = layer.network.makeFlight(Work.self, .standard)
        let request = try layer.network.assemble(Work(), delivery: .whole(maximumByteCount: 1), in: flight)
        let key = try #require(CacheKey(request, in: flight))
        func respond(_ order: UInt64) -> TimeToLiveResponse {
            TimeToLiveResponse(
                RawData([]), for: key, sequenceNumber: order, fetched: .zero, entered: .zero,
                date: layer.network.clock.date)
        }
        let cache = layer.network.cache
        let joined = cache.nextSequenceNumber()
        #expect(
            cache.store(respond(cache.nextSequenceNumber()), from: cache.lastSequenceNumber, in: .memory) == .stored)
        #expect(cache.store(respond(joined), from: cache.lastSequenceNumber, in: .memory) == .outdated)
        let early = cache.nextSequenceNumber()
        cache.clear()
        #expect(cache.store(respond(early), from: cache.lastSequenceNumber, in: .memory) == .outdated)
        #expect(cache.count == 0)
    }
}
