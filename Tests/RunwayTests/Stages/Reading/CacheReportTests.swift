import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

private struct Poster: Endpoint {
    static let service = Gallery.self
    static let cacheKind = CacheKind("images")
    static let cache = CachePolicy.timeToLive(.seconds(60), staleWhileRevalidate: .seconds(60))
    var path: EndpointPath { "posters" }
}

/// What the report counts, and what it says of a lifetime.
struct CacheReportTests {
    private func use<E: Endpoint>(of endpoint: E.Type, in layer: CachedLayer) throws -> CacheReport.EndpointUse {
        try #require(layer.network.cacheReport.endpoints.first { $0.endpoint == E.name })
    }

    @Test func everyUseIsCountedOnceByItsAge() async throws {
        let layer = CachedLayer()
        _ = try await layer.number(Work())
        for _ in 1...3 { _ = try await layer.number(Work()) }
        layer.clock.advance(by: .seconds(20))
        _ = try await layer.number(Work())
        layer.clock.advance(by: .seconds(180))
        _ = try await layer.number(Work())
        _ = try await layer.number(Work(), CallOptions(cacheUse: .refresh))
        layer.clock.advance(by: .seconds(1000))
        _ = try await layer.number(Work(), CallOptions(cacheUse: .onlyIfCached))
        let use = try use(of: Work.self, in: layer)
        #expect(use.freshCount == 4 && use.absentCount == 1 && use.expiredCount == 1)
        #expect(use.bypassedCount == 1 && use.staleCount == 1 && use.callCount == 8)
        #expect(
            use.ages.filter { $0.callCount > 0 }.map(\.longest) == [
                .seconds(1), .seconds(30), .seconds(600), .seconds(1800),
            ])
        #expect(use.ages.map(\.callCount).reduce(0, +) == 6 && use.ages[0].callCount == 3)
    }

    @Test func itSaysWhetherTheResponseHadChanged() async throws {
        let layer = CachedLayer()
        _ = try await layer.number(Work())
        layer.clock.advance(by: .seconds(200))
        // The server counts its requests, so that every response differs.
        _ = try await layer.number(Work())
        layer.server.respond(with: .success(.json(#"{"n":2}"#)))
        layer.clock.advance(by: .seconds(200))
        _ = try await layer.number(Work())
        layer.clock.advance(by: .seconds(40))
        _ = try await layer.number(Work(), CallOptions(cacheUse: .refresh))
        let ages = try use(of: Work.self, in: layer).ages
        let compared = ages.filter { $0.changedCount + $0.unchangedCount > 0 }
        #expect(compared.map(\.longest) == [.seconds(60), .seconds(600)])
        #expect(compared.map(\.changedCount) == [0, 1] && compared.map(\.unchangedCount) == [1, 1])
    }

    @Test func a304CountsAsUnchanged() async throws {
        let layer = CachedLayer()
        var response = Response.json("{}")
        response.head.headerFields[.eTag] = "\"a\""
        response = Response(head: response.head, body: .whole(RawData(Array("{}".utf8), response: response.head)))
        layer.server.respond(with: .success(response))
        _ = try await layer.network.call(Work())
        layer.server.respond(with: .success(.json("", status: .notModified)))
        layer.clock.advance(by: .seconds(200))
        _ = try await layer.network.call(Work())
        let ages = try use(of: Work.self, in: layer).ages
        #expect(ages.reduce(0) { $0 + $1.unchangedCount } == 1 && ages.allSatisfy { $0.changedCount == 0 })
    }

    @Test func underHTTPItCountsTheSame() async throws {
        let layer = CachedLayer()
        func respond(_ body: String, status: HTTPResponse.Status = .ok) {
            let head = HTTPResponse(status: status, headerFields: [.cacheControl: "max-age=60", .eTag: "\"\(body)\""])
            layer.server.respond(
                with: .success(Response(head: head, body: .whole(RawData(Array(body.utf8), response: head)))))
        }
        respond("{}")
        for _ in 1...3 { _ = try await layer.network.call(Work(), options: .policy(.http())) }
        layer.clock.advance(by: .seconds(100))
        respond("{}", status: .notModified)
        _ = try await layer.network.call(Work(), options: .policy(.http()))
        layer.clock.advance(by: .seconds(100))
        respond("[]")
        _ = try await layer.network.call(Work(), options: .policy(.http()))
        _ = try await layer.network.call(Work(), options: .policy(.http(), .refresh))
        let use = try use(of: Work.self, in: layer)
        #expect(use.absentCount == 1 && use.freshCount == 2 && use.expiredCount == 2 && use.bypassedCount == 1)
        let compared = use.ages.filter { $0.changedCount + $0.unchangedCount > 0 }
        #expect(compared.map(\.longest) == [.seconds(180)])
        #expect(compared.map(\.changedCount) == [1] && compared.map(\.unchangedCount) == [1])
    }

    @MainActor
    @Test func aStaleLandingCountsOnce() async throws {
        let layer = CachedLayer()
        let recorder = LandingRecorder()
        let manager = APIManager<Poster>(on: layer.network, delegate: recorder)
        manager.load(Poster())
        try await recorder.landings(count: 1)
        layer.clock.advance(by: .seconds(90))
        manager.load(Poster())
        try await recorder.landings(count: 3)
        let use = try use(of: Poster.self, in: layer)
        #expect(use.staleCount == 1 && use.callCount == 2 && use.kind == CacheKind("images"))
        // A call without a manager has one landing, and the response is revalidated in a flight of its own.
        layer.clock.advance(by: .seconds(90))
        _ = try await layer.number(Poster())
        try await waitUntil { layer.server.requestCount == 3 }
        let later = try self.use(of: Poster.self, in: layer)
        #expect(later.staleCount == 2 && later.callCount == 3, "the revalidation does not count")
    }

    @Test func sharesAreThoseOfTheLifetime() async throws {
        let layer = CachedLayer()
        for seconds in [0, 5, 25, 100, 300] as [Int64] {
            layer.clock.advance(by: .seconds(seconds))
            _ = try await layer.number(Work())
        }
        let use = try use(of: Work.self, in: layer)
        #expect(use.servedShare(for: .zero) == 0 && use.changedShare(for: .seconds(60)) == nil)
        #expect(use.servedShare(for: .seconds(10)) == 0.2 && use.servedShare(for: .seconds(59)) == 0.4)
        #expect(use.servedShare(for: .seconds(180)) == 0.6 && use.servedShare(for: .seconds(600)) == 0.8)
        #expect(use.changedShare(for: .seconds(600)) == 1)
        #expect(layer.network.cacheReport == layer.network.cacheReport)
    }

    @Test func theTextIsATableForEachEndpoint() async throws {
        let layer = CachedLayer()
        #expect("\(layer.network.cacheReport)" == "No call has used the cache.")
        for seconds in [0, 5, 300] as [Int64] {
            layer.clock.advance(by: .seconds(seconds))
            _ = try await layer.number(Work())
        }
        _ = try await layer.number(Artist())
        #expect(
            "\(layer.network.cacheReport)" == """
                gallery Work: 3 calls, 1 fresh, 0 stale, 1 expired, 1 not stored, 0 bypassing
                  lifetime  serves  changed
                       1 s      0%        -
                      10 s     33%        -
                      30 s     33%        -
                     1 min     33%        -
                     3 min     33%        -
                    10 min     67%     100%
                gallery Artist: 1 calls, 0 fresh, 0 stale, 0 expired, 1 not stored, 0 bypassing
                """)
        layer.network.resetCacheReport()
        #expect(layer.network.cacheReport.endpoints.isEmpty)
        #expect(layer.network.cache.count == 2)
    }

    @Test func endpointsWithoutACacheDoNotCount() async throws {
        let layer = CachedLayer()
        _ = try await layer.network.call(Work(), options: .policy(.off))
        _ = try await layer.network.call(Rename())
        #expect(layer.network.cacheReport.endpoints.isEmpty)
    }

    @Test func itsMemoryIsBounded() {
        let usage = CacheUsage(maximumEndpoints: 3)
        let types: [any Endpoint.Type] = [Work.self, Artist.self, Book.self, Search.self, Poster.self]
        for type in types + types {
            usage.count(.absent, of: type)
            usage.count(at: .zero, isChanged: true, of: type)
        }
        #expect(usage.report.endpoints.map(\.callCount) == [2, 2, 2] && usage.report.uncountedCount == 4)
        #expect("\(usage.report)".hasSuffix("and 4 calls of endpoints that are not counted"))
    }
}
