import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// What landed stale and is found to be still good.
@MainActor
struct BackgroundRenewalTests {
    private let options = CallOptions.policy(.timeToLive(.seconds(10), staleWhileRevalidate: .seconds(60)))
    private let layer = ParkedLayer()

    private func fill() async throws {
        async let filling = layer.network.call(Work(), options: options)
        var response = Response.json(#"{"n":1}"#)
        response.head.headerFields[.eTag] = "\"a\""
        layer.transport.respond(try await layer.arrival(), with: .success(response))
        _ = try await filling
        layer.clock.advance(by: .seconds(15))
    }

    private func respondNotModified(_ flight: UInt64) {
        #expect(layer.transport.request(of: flight)?.head.headerFields[.ifNoneMatch] == "\"a\"")
        layer.transport.respond(
            flight, with: .success(Response(head: HTTPResponse(status: .notModified), body: .whole(RawData([])))))
    }

    private func decisions(of flight: UInt64, after count: Int) async throws -> [CacheDecision] {
        let records = try await layer.records.records(count: count)
        return records.first { $0.id.number == flight }?.decisions(of: CacheDecision.self) ?? []
    }

    @Test func aStaleResponseIsRevalidatedInTheBackground() async throws {
        try await fill()
        let stale = try await layer.network.call(Work(), options: options)
        #expect(stale["n"].int == 1 && stale.source == .staleCache)
        let background = try await layer.arrival()
        respondNotModified(background)
        #expect(try await decisions(of: background, after: 3).contains(.notModified))
        let renewed = try await layer.network.call(Work(), options: options)
        #expect(renewed["n"].int == 1 && renewed.source == .cache)
    }

    @Test func managerIsNotifiedOnceOfAFreshResponse() async throws {
        try await fill()
        let recorder = LandingRecorder()
        let manager = APIManager<Work>(on: layer.network, delegate: recorder)
        let flight = manager.load(Work(), options: options)
        #expect(manager.rawData?.source == .staleCache)
        try await layer.transport.waitForArrival(of: flight)
        respondNotModified(flight.number)
        let decisions = try await decisions(of: flight.number, after: 2)
        #expect(decisions.contains(.notModified) && decisions.last == .unchanged)
        #expect(recorder.landings.count == 1 && manager.rawData?.source == .cache && !manager.isLoading)
    }

    @Test func aPrefetchRenewsWhatIsStale() async throws {
        try await fill()
        let flight = layer.network.prefetch(Work(), options: options)
        try await layer.transport.waitForArrival(of: flight)
        respondNotModified(flight.number)
        #expect(try await decisions(of: flight.number, after: 2).contains(.notModified))
        #expect(try await layer.network.call(Work(), options: options).source == .cache)
    }

    @Test func aClearedResponseIsNotStoredAgain() async throws {
        try await fill()
        let plain = CallOptions.policy(.timeToLive(.seconds(10)))
        async let call = layer.network.call(Work(), options: plain)
        let flight = try await layer.arrival()
        layer.network.cache.clear(account: "ann")
        layer.network.cache.clear()
        respondNotModified(flight)
        #expect(try await call["n"].int == 1)
        #expect(layer.network.cache.count == 0)
    }
}
