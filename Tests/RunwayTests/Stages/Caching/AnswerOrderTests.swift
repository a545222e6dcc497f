import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

struct AnswerOrderTests {
    private let layer = ParkedLayer()
    private let refresh = CallOptions(cacheUse: .refresh)

    @Test func anOlderAnswerIsNotPutOverANewerOne() async throws {
        async let older = layer.network.call(Work())
        let first = try await layer.arrival()
        async let newer = layer.network.call(Work(), options: refresh)
        let second = try await layer.arrival(besides: [first])
        layer.answer(second, 2)
        _ = try await newer
        layer.answer(first, 1)
        #expect(try await older["n"].int == 1, "it lands with its own caller")
        #expect(try await layer.network.call(Work())["n"].int == 2)
        let record = try await layer.records.records(count: 3).first { $0.id.number == first }
        #expect(record?.decisions(of: CacheDecision.self).last == .outdated)
    }

    @Test func aNewerAnswerIsPutOverAnOlderOne() async throws {
        async let older = layer.network.call(Work())
        let first = try await layer.arrival()
        async let newer = layer.network.call(Work(), options: refresh)
        let second = try await layer.arrival(besides: [first])
        layer.answer(first, 1)
        _ = try await older
        layer.answer(second, 2)
        _ = try await newer
        #expect(try await layer.network.call(Work())["n"].int == 2)
    }

    @Test func whatIsKnownOfNewerAnswersIsBounded() throws {
        var floors = CacheFloors()
        let count = CacheFloors.maximumCount * 2
        let keys = try (1...count).map { id in
            let flight = layer.network.makeFlight(Work.self, .standard)
            let request = try layer.network.assemble(Work(id: id), delivery: .whole(maximumByteCount: 1), in: flight)
            return try #require(CacheKey(request, in: flight))
        }
        for (index, key) in keys.enumerated() { floors.kept(key, order: UInt64(10 * index + 10)) }
        let last = UInt64(10 * count)
        #expect(!floors.allow(keys[count - 1], order: last - 1, mark: last - 1))
        #expect(floors.allow(keys[count - 2], order: last - 1, mark: last - 1))
        // What is forgotten of one key holds for all: too little is kept, never what is out of date.
        #expect(!floors.allow(keys[0], order: 5, mark: 5) && !floors.allow(keys[1], order: 15, mark: 15))
        #expect(floors.allow(keys[0], order: last + 1, mark: last + 1))
    }

    /// A call that joins the request of an earlier one brings an answer that is older than itself.
    @Test func whatCountsIsTheRequestThatFetchedIt() throws {
        let flight = layer.network.makeFlight(Work.self, .standard)
        let request = try layer.network.assemble(Work(), delivery: .whole(maximumByteCount: 1), in: flight)
        let key = try #require(CacheKey(request, in: flight))
        func answer(_ order: UInt64) -> KeptAnswer {
            KeptAnswer(
                RawData([]), for: key, order: order, fetched: .zero, entered: .zero, date: layer.network.clock.date)
        }
        let cache = layer.network.cache
        let joined = cache.drawOrder()
        #expect(cache.keep(answer(cache.drawOrder()), from: cache.mark, in: .memory) == .kept)
        #expect(cache.keep(answer(joined), from: cache.mark, in: .memory) == .outdated)
        let early = cache.drawOrder()
        cache.clear()
        #expect(cache.keep(answer(early), from: cache.mark, in: .memory) == .outdated)
        #expect(cache.count == 0)
    }
}
