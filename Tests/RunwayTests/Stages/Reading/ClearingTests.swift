import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// A way to clear, and which of four calls it concerns: Ann's work and artist, nobody's work, a book.
struct Clearing: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let concerns: [Bool]
    let clear: @Sendable (NetworkLayer) throws -> Void

    static let all = [
        Clearing(testDescription: "everything", concerns: [true, true, true, true]) { $0.cache.clear() },
        Clearing(testDescription: "a service", concerns: [true, true, true, false]) { $0.cache.clear(Gallery.self) },
        Clearing(testDescription: "an endpoint", concerns: [true, false, true, false]) { $0.cache.clear(Work.self) },
        Clearing(testDescription: "an account", concerns: [true, true, false, false]) {
            $0.cache.clear(account: "ann")
        },
        Clearing(testDescription: "an account of a service", concerns: [true, true, false, false]) {
            $0.cache.clear(account: "ann", of: Gallery.self)
        },
        Clearing(testDescription: "an account of another service", concerns: [false, false, false, false]) {
            $0.cache.clear(account: "ann", of: Library.self)
        },
        Clearing(testDescription: "another account", concerns: [false, false, false, false]) {
            $0.cache.clear(account: "bob")
        },
        Clearing(testDescription: "one call", concerns: [true, false, false, false]) { network in
            network.configure(Gallery.self) { $0.account = "ann" }
            try network.clearCache(of: Work())
        },
    ]
}

/// A call whose endpoint stores nothing.
private struct Uncached: Endpoint {
    static let service = Gallery.self
    static let coalesces = false
    var path: EndpointPath { "unkept" }
}

struct ClearingTests {
    /// Makes the four calls, each at its turn.
    private func calls(on network: NetworkLayer) -> [@Sendable () async throws -> RawData] {
        [
            { [account = "ann" as String?] in
                network.configure(Gallery.self) { $0.account = account }
                return try await network.call(Work())
            },
            { try await network.call(Artist()) },
            {
                network.configure(Gallery.self) { $0.account = nil }
                return try await network.call(Work())
            },
            { try await network.call(Book()) },
        ]
    }

    @Test(arguments: Clearing.all) func itRemovesOnlyItsScope(_ clearing: Clearing) async throws {
        let layer = CachedLayer()
        let calls = calls(on: layer.network)
        for call in calls { #expect(try await call().source == .network) }
        try clearing.clear(layer.network)
        for (call, isConcerned) in zip(calls, clearing.concerns) {
            #expect(try await call().source == (isConcerned ? .network : .cache))
        }
    }

    @Test(arguments: Clearing.all) func clearLeavesResponsesInFlightUnstored(_ clearing: Clearing) async throws {
        let layer = ParkedLayer()
        var flying: [Task<RawData, any Error>] = []
        for (index, call) in calls(on: layer.network).enumerated() {
            flying.append(Task { try await call() })
            try await layer.transport.wait { $0.parked.count == index + 1 }
        }
        try clearing.clear(layer.network)
        for (index, flight) in layer.transport.parked.enumerated() {
            layer.respond(flight, index)
            #expect(try await flying[index].value["n"].int == index, "it lands all the same")
        }
        let records = try await layer.records.records(count: 4).sorted { $0.id < $1.id }
        let stored = records.map { !$0.decisions(of: CacheDecision.self).contains(.outdated) }
        #expect(stored == clearing.concerns.map { !$0 })
        #expect(layer.network.cache.count == stored.count { $0 })
    }

    @Test func callsAfterAClearAreStored() async throws {
        let layer = CachedLayer()
        layer.network.configure(Gallery.self) { $0.account = "ann" }
        for clearing in Clearing.all {
            try clearing.clear(layer.network)
            let number = try await layer.number(Work())
            #expect(try await layer.number(Work()) == number)
        }
    }

    @Test(arguments: Clearing.all.filter { $0.concerns[2] }) func itClearsHTTPResponsesToo(
        _ clearing: Clearing
    ) async throws {
        let layer = CachedLayer()
        var stored = Response.json("{}")
        stored.head.headerFields[.cacheControl] = "max-age=600"
        layer.server.respond(with: .success(stored))
        _ = try await layer.network.call(Work(), options: .policy(.http()))
        #expect(layer.network.cache.count == 1)
        try clearing.clear(layer.network)
        #expect(layer.network.cache.count == 0)
    }

    @Test func clearingOneCallRemovesHTTPResponsesToo() async throws {
        let layer = CachedLayer()
        var stored = Response.json("{}")
        stored.head.headerFields[.cacheControl] = "max-age=600"
        layer.server.respond(with: .success(stored))
        for id in 1...2 { _ = try await layer.network.call(Work(id: id), options: .policy(.http())) }
        try layer.network.clearCache(of: Work(id: 1))
        #expect(layer.network.cache.count == 1)
        #expect(await layer.failure(Work(id: 1), .policy(.http(), .onlyIfCached))?.kind == .notCached)
    }

    @Test(arguments: [CachePolicy.timeToLive(), .untilEvicted()])
    func clearingACallRemovesItsPolicysResponses(_ policy: CachePolicy) async throws {
        let layer = CachedLayer()
        for _ in 1...2 { #expect(try await layer.number(Uncached(), .policy(policy)) == 1) }
        try layer.network.clearCache(of: Uncached())
        #expect(layer.network.cache.count == 0)
        #expect(try await layer.number(Uncached(), .policy(policy)) == 2)
    }

    @Test func hostOfClearsIsRememberedInBoundedMemory() async throws {
        let layer = ParkedLayer()
        async let early = layer.network.call(Work())
        let flight = try await layer.arrival()
        for number in 0...5 * ClearGenerations.maximumCount { layer.network.cache.clear(account: "account \(number)") }
        layer.respond(flight, 1)
        _ = try await early
        #expect(layer.network.cache.count == 0, "responses of a forgotten scope are not stored")
        try await layer.fill(2)
        #expect(layer.network.cache.count == 1, "responses to later calls are")
    }

    @Test func signOutLeavesRevalidatedResponsesUnstored() async throws {
        let layer = ParkedLayer()
        layer.network.configure(Gallery.self) { $0.account = "ann" }
        let options = CallOptions.policy(.timeToLive(.seconds(1), staleWhileRevalidate: .seconds(60)))
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(2))
        #expect(try await layer.network.call(Work(), options: options).source == .staleCache)
        let background = try await layer.arrival()
        layer.network.cache.clear(account: "ann")
        try await layer.transport.wait { $0.cancelled.contains(background) }
        let record = try await layer.records.records(count: 3).first { $0.id.number == background }
        #expect(record?.outcome.name == "cancelled" && layer.network.cache.count == 0)
    }
}
