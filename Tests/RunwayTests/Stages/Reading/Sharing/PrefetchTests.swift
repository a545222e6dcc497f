import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

struct PrefetchTests {
    @Test func aCallFindsThePrefetchedResponse() async throws {
        let layer = ParkedLayer()
        let flight = layer.network.prefetch(Work())
        try await layer.transport.waitForArrival(of: flight)
        layer.respond(flight.number, 1)
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.id == flight && record.outcome.name == "succeeded")
        #expect(record.decisions(of: CacheDecision.self).prefix(2) == [.prefetching, .miss])
        let rawData = try await layer.network.call(Work())
        #expect(rawData["n"].int == 1 && rawData.source == .cache)
    }

    @Test func freshResponseIsNotFetched() async throws {
        let layer = CachedLayer()
        _ = try await layer.number(Work())
        layer.network.prefetch(Work())
        let record = try await layer.records.records(count: 2)[1]
        #expect(record.outcome.name == "succeeded" && record.attempts.isEmpty && layer.server.requestCount == 1)
    }

    @Test func staleResponseIsFetched() async throws {
        let layer = CachedLayer()
        let options = CallOptions.policy(.timeToLive(.seconds(10), staleWhileRevalidate: .seconds(60)))
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(15))
        layer.network.prefetch(Work(), options: options)
        let record = try await layer.records.records(count: 2)[1]
        #expect(record.source == .network && record.attempts.count == 1)
        #expect(try await layer.network.call(Work(), options: options).source == .cache)
        #expect(layer.server.requestCount == 2)
    }

    /// Says at what priority each request came.
    private final class PriorityTransport: Transport {
        /// Guards the priorities.
        private let state = Mutex<[CallPriority]>([])
        var priorities: [CallPriority] { state.withLock { $0 } }

        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            state.withLock { $0.append(flight.priority) }
            var response = Response.json("{}")
            response.head.headerFields[.cacheControl] = "max-age=10, stale-while-revalidate=60"
            return response
        }
    }

    @Test func prefetchesHaveLowPriorityByDefault() async throws {
        let (transport, clock, records) = (PriorityTransport(), ManualClock(), RecordCollector())
        let network = NetworkLayer(transport: transport, pipeline: .tested, clock: LayerClock(clock), sinks: [records])
        network.prefetch(Work())
        _ = try await records.records(count: 1)
        network.prefetch(Work(id: 2), options: CallOptions(priority: .high))
        _ = try await records.records(count: 2)
        #expect(transport.priorities == [.low, .high])
        for (index, policy) in [
            CachePolicy.timeToLive(.seconds(10), staleWhileRevalidate: .seconds(60)), .http(),
        ].enumerated() {
            _ = try await network.call(Work(id: 3 + index), options: .policy(policy))
            clock.advance(by: .seconds(15))
            #expect(try await network.call(Work(id: 3 + index), options: .policy(policy)).source == .staleCache)
            _ = try await records.records(count: 5 + 3 * index)
            #expect(transport.priorities.suffix(2) == [.normal, .low])
        }
    }

    @Test func twoOfTheSameShareOneFlight() async throws {
        let layer = ParkedLayer()
        let first = layer.network.prefetch(Work())
        let second = layer.network.prefetch(Work())
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.outcome.kind == .ignored && record.outcome.runningFlight == first)
        #expect(record.id == second)
        try await layer.transport.waitForArrival(of: first)
        layer.respond(first.number, 1)
        _ = try await layer.records.records(count: 2)
    }

    @Test @MainActor func hookedPrefetchIsIdentifiedByItsCompletedParameters() async throws {
        let (transport, records) = (ParkingTransport(), RecordCollector())
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()), sinks: [records])
        let interceptor = SilentInterceptor()
        network.add(interceptor)
        let first = network.prefetch(Greeting())
        let second = network.prefetch(Greeting(name: "everybody"))
        let other = network.prefetch(Greeting(name: "ann"))
        let record = try await records.records(count: 1)[0]
        #expect(record.id == second && record.outcome.runningFlight == first)
        try await transport.wait { $0.parked == [first.number, other.number] }
        network.endBackgroundFlights()
        _ = try await records.records(count: 3)
        withExtendedLifetime(interceptor) {}
    }

    @Test func aCancelledPrefetchFreesItsKey() async throws {
        let layer = ParkedLayer()
        let first = layer.network.prefetch(Work())
        let other = layer.network.prefetch(Work(id: 2))
        try await layer.transport.wait { $0.parked == [first.number, other.number] }
        layer.network.cancelPrefetch(first)
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.id == first && record.outcome.name == "cancelled")
        #expect(layer.transport.cancelled == [first.number] && layer.transport.parked == [other.number])
        // No flight of this number is left to cancel, and the one in flight now is another.
        let second = layer.network.prefetch(Work())
        layer.network.cancelPrefetch(first)
        try await layer.transport.waitForArrival(of: second)
        layer.respond(second.number, 2)
        layer.respond(other.number, 3)
        _ = try await layer.records.records(count: 3)
        #expect(try await layer.network.call(Work())["n"].int == 2)
        #expect(try await layer.network.call(Work(id: 2))["n"].int == 3)
    }

    @Test func aCallSharingACancelledPrefetchContinues() async throws {
        let room = ReadingRoom()
        let prefetch = room.network.prefetch(CachedShelf())
        try await room.transport.waitForArrival(of: prefetch.number)
        let call = try await room.join(CachedShelf())
        room.network.cancelPrefetch(prefetch)
        try await room.settle { room.network.reads.waitingCount == 1 }
        #expect(room.transport.cancelled.isEmpty)
        room.transport.respond(prefetch.number)
        #expect(try await call.number == prefetch.number)
        let records = try await room.records(count: 2)
        #expect(records.map(\.outcome.name) == ["cancelled", "succeeded"])
        #expect(try await room.network.call(CachedShelf()).source == .cache)
    }

    @Test func anUncachedEndpointCannotBePrefetched() async throws {
        let layer = CachedLayer()
        layer.network.prefetch(QueryCall())
        layer.network.prefetch(Rename())
        let records = try await layer.records.records(count: 2)
        #expect(records.allSatisfy { $0.outcome.error?.kind == .invalidConfiguration })
        #expect(layer.server.requestCount == 0)
    }

    @Test func failuresOfPrefetchesAreOnlyRecorded() async throws {
        let layer = CachedLayer()
        layer.network.prefetch(Filter(city: ""), options: .policy(.timeToLive()))
        layer.server.respond(with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        layer.network.prefetch(Work())
        let kinds = try await layer.records.records(count: 2).map { $0.outcome.error?.kind }
        #expect(kinds == [.invalidParameters, .noNetwork] && layer.network.cache.count == 0)
    }

    @Test func releasedLayerIsFreedAfterItsBackgroundFlights() async throws {
        let (transport, records) = (ParkingTransport(), RecordCollector())
        var network: NetworkLayer? = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()), sinks: [records])
        weak let released = network
        let flight = try #require(network?.prefetch(Work()))
        try await transport.waitForArrival(of: flight)
        network?.endBackgroundFlights()
        network = nil
        try await transport.wait { $0.cancelled.contains(flight.number) }
        try await waitUntil("the layer to be released") { released == nil }
        #expect(try await records.records(count: 1)[0].outcome.name == "cancelled")
    }
}

/// Names everybody if its caller names nobody.
private struct Greeting: Endpoint {
    static let service = Estates.self
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "greeting" }
    var name: String?
    mutating func complete() { name = name ?? "everybody" }
}

/// Changes nothing. Held by its test alone.
@MainActor
private final class SilentInterceptor: Interceptor {}
