import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Stale responses that are returned to callers while a fresh one is fetched.
struct StaleWhileRevalidateTests {
    private let options = CallOptions.policy(.timeToLive(.seconds(10), staleWhileRevalidate: .seconds(60)))

    @Test func aStaleResponseIsReturnedAndRevalidated() async throws {
        let layer = ParkedLayer()
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(15))
        let stale = try await layer.network.call(Work(), options: options)
        #expect(stale["n"].int == 1 && stale.source == .staleCache)
        let background = try await layer.arrival()
        layer.respond(background, 2)
        let records = try await layer.records.records(count: 3).sorted { $0.id < $1.id }
        #expect(records[1].source == .staleCache && records[1].attempts.isEmpty)
        #expect(records[1].decisions(of: CacheDecision.self) == [.revalidating(staleBy: .seconds(5))])
        #expect(records[2].id.number == background && records[2].source == .network)
        #expect(
            records[2].decisions(of: CacheDecision.self).prefix(2) == [.revalidatingFor(records[1].id), .refreshing])
        let fresh = try await layer.network.call(Work(), options: options)
        #expect(fresh["n"].int == 2 && fresh.source == .cache)
    }

    @Test func aStaleResponseCausesOneRequest() async throws {
        let layer = CachedLayer()
        let filling = try await layer.network.call(Written(), options: options)
        #expect(filling.source == .network && Written.requestCount.load(ordering: .relaxed) == 1)
        layer.clock.advance(by: .seconds(15))
        #expect(try await layer.network.call(Written(), options: options).source == .staleCache)
        let records = try await layer.records.records(count: 3)
        #expect(records.count { $0.source == .network } == 2)
        #expect(Written.requestCount.load(ordering: .relaxed) == 2)
    }

    @Test func manyStaleHitsShareOneFetch() async throws {
        let layer = ParkedLayer()
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(15))
        for _ in 0..<20 { #expect(try await layer.network.call(Work(), options: options).source == .staleCache) }
        let background = try await layer.arrival()
        await layer.network.flushRecords()
        #expect(layer.transport.parked == [background])
        layer.respond(background, 2)
        let records = try await layer.records.records(count: 22)
        #expect(records.count { $0.decisions(of: CacheDecision.self).contains(.revalidationSkipped) } == 19)
    }

    @Test func itsWindowEnds() async throws {
        let layer = CachedLayer()
        #expect(try await layer.number(options) == 1)
        layer.clock.advance(by: .seconds(70))
        #expect(try await layer.number(options) == 2)
    }

    @Test func aFailedRevalidationLeavesTheStaleResponse() async throws {
        let layer = ParkedLayer()
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(15))
        for number in 0..<3 {
            #expect(try await layer.network.call(Work(), options: options).source == .staleCache)
            layer.transport.respond(
                try await layer.arrival(), with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
            _ = try await layer.records.records(count: 3 + 2 * number)
        }
    }

    @Test func fetchIsBoundedByTheEndpointsDeadline() async throws {
        let layer = ParkedLayer()
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(15))
        _ = try await layer.network.call(Work(), options: options)
        let background = try await layer.arrival()
        try await layer.clock.waitForSleepers()
        layer.clock.advance(by: .seconds(60))
        let record = try await layer.records.records(count: 3).first { $0.id.number == background }
        #expect(record?.outcome.error?.kind == .timedOut)
    }

    @Test func theFetchIsCheckedByTheEndpoint() async throws {
        let layer = ParkedLayer()
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(15))
        _ = try await layer.network.call(Work(), options: options)
        layer.transport.respond(try await layer.arrival(), with: .success(.json(#"{"bad":1}"#)))
        _ = try await layer.records.records(count: 3)
        #expect(try await layer.network.call(Work(), options: options)["n"].int == 1)
    }

    @Test func anExchangeIsRevalidatedToo() async throws {
        let layer = ParkedLayer()
        let flight = layer.network.makeFlight(Work.self, options)
        let request = try layer.network.assemble(Work(), delivery: .whole(maximumByteCount: 1 << 20), in: flight)
        async let filling = layer.network.exchange(request, with: Gallery.self, options: options)
        layer.respond(try await layer.arrival(), 1)
        _ = try await filling
        layer.clock.advance(by: .seconds(15))
        let stale = try await layer.network.exchange(request, with: Gallery.self, options: options)
        #expect(stale.source == .staleCache)
        layer.respond(try await layer.arrival(), 2)
        _ = try await layer.records.records(count: 3)
        let fresh = try await layer.network.exchange(request, with: Gallery.self, options: options)
        #expect(fresh.source == .cache)
    }

    @Test func cancelledRevalidationOfAnExchangeIsRecorded() async throws {
        let layer = ParkedLayer()
        let flight = layer.network.makeFlight(Work.self, options)
        let request = try layer.network.assemble(Work(), delivery: .whole(maximumByteCount: 1 << 20), in: flight)
        async let filling = layer.network.exchange(request, with: Gallery.self, options: options)
        layer.respond(try await layer.arrival(), 1)
        _ = try await filling
        layer.clock.advance(by: .seconds(15))
        let stale = try await layer.network.exchange(request, with: Gallery.self, options: options)
        #expect(stale.source == .staleCache)
        let background = try await layer.arrival()
        layer.network.endBackgroundFlights()
        let records = try await layer.records.records(count: 3).sorted { $0.id < $1.id }
        #expect(records[2].id.number == background && records[2].outcome.kind == .cancelled)
        #expect(records[2].decisions(of: CacheDecision.self).first == .revalidatingFor(records[1].id))
    }

    @Test func theFlightsOfTheLayerAreBounded() async throws {
        let layer = ParkedLayer()
        let limit = BackgroundFlights.maximumCount
        for id in 1...limit { layer.network.prefetch(Work(id: id)) }
        try await layer.transport.wait { $0.parked.count == limit }
        let refused = layer.network.prefetch(Work(id: limit + 1))
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.id == refused && record.outcome.error?.kind == .overloaded)
        layer.network.cache.clear()
        _ = try await layer.records.records(count: limit + 1)
        #expect(layer.transport.cancelled.count == limit)
    }
}

/// Counts the requests that are built from it: only they read the maximum size of a response.
private struct Written: Endpoint {
    static let requestCount = Atomic(0)
    static let service = Gallery.self
    static let coalesces = false
    static var maximumResponseByteCount: Int {
        requestCount.wrappingAdd(1, ordering: .relaxed)
        return 1 << 20
    }
    var path: EndpointPath { "written" }
}
