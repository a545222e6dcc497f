import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

struct TimeToLiveTests {
    let layer = CachedLayer()

    @Test func aSecondCallIsServedFromMemory() async throws {
        #expect(try await layer.number(Work()) == 1)
        layer.clock.advance(by: .seconds(12))
        let rawData = try await layer.network.call(Work())
        #expect(rawData["n"].int == 1 && rawData.source == .cache)
        let records = try await layer.records.records(count: 2)
        #expect(records[0].source == .network && records[1].source == .cache && records[1].attempts.isEmpty)
        #expect(records[0].decisions(of: CacheDecision.self).first == .miss)
        #expect(records[1].decisions(of: CacheDecision.self) == [.hit(age: .seconds(12))])
    }

    @Test func aResponseIsFreshForItsLifetime() async throws {
        #expect(CachePolicy.timeToLive().memoryLifetime == .seconds(180), "the documented default")
        #expect(try await layer.number(Work()) == 1)
        layer.clock.advance(by: .seconds(180) - .nanoseconds(1))
        #expect(try await layer.number(Work()) == 1)
        layer.clock.advance(by: .nanoseconds(1))
        #expect(try await layer.number(Work()) == 2)
        #expect(await layer.lastDecisions().first == .expired(by: .zero))
    }

    @Test func differentCallsShareNoStoredResponse() async throws {
        #expect(try await layer.number(Work(id: 1)) == 1)
        #expect(try await layer.number(Work(id: 2)) == 2)
        #expect(try await layer.number(Work(id: 1, fields: ["Accept-Language": "zh"])) == 3)
        layer.network.configure(Gallery.self) { $0.account = "ann" }
        #expect(try await layer.number(Work(id: 1)) == 4)
        layer.network.configure(Gallery.self) { $0.account = "bob" }
        #expect(try await layer.number(Work(id: 1)) == 5)
        layer.network.configure(Gallery.self) { $0.environment = .development }
        #expect(try await layer.number(Work(id: 1)) == 6)
        layer.network.configure(Gallery.self) { settings in
            settings.environment = .release
            settings.account = "ann"
        }
        #expect(try await layer.number(Work(id: 1)) == 4, "each account finds its own again")
        #expect(layer.network.cache.count == 6)
    }

    @Test func twoLayersShareNothing() async throws {
        let other = CachedLayer()
        #expect(try await layer.number(Work()) == 1)
        _ = try await other.number(Work(id: 9))
        #expect(try await other.number(Work()) == 2)
    }

    @Test func refreshReplacesTheStoredResponse() async throws {
        #expect(try await layer.number(Work()) == 1)
        #expect(try await layer.number(CallOptions(cacheUse: .refresh)) == 2)
        #expect(await layer.lastDecisions().first == .refreshing)
        #expect(try await layer.number(Work()) == 2)
        layer.server.respond(with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        #expect(await layer.failure(Work(), CallOptions(cacheUse: .refresh))?.kind == .noNetwork)
        #expect(try await layer.number(Work()) == 2, "the stored response outlives a failed refresh")
    }

    @Test func onlyIfCachedNeverSends() async throws {
        let wish = CallOptions(cacheUse: .onlyIfCached)
        let error = await layer.failure(Work(), wish)
        #expect(error?.kind == .notCached && error?.step == .reading)
        #expect(layer.server.requestCount == 0)
        #expect(try await layer.number(Work()) == 1)
        #expect(try await layer.network.call(Work(), options: wish).source == .cache)
        layer.clock.advance(by: .seconds(86_400))
        let stale = try await layer.network.call(Work(), options: wish)
        #expect(stale.source == .staleCache && stale["n"].int == 1)
        #expect(await layer.lastDecisions() == [.staleAllowed(by: .seconds(86_400 - 180))])
        #expect(
            await layer.failure(QueryCall(), wish)?.kind == .notCached,
            "an endpoint without a policy has no stored response")
        #expect(await layer.failure(Rename(), wish)?.kind == .notCached)
        #expect(layer.server.requestCount == 1)
    }

    @Test func aCallOverridesThePolicyOfItsEndpoint() async throws {
        #expect(try await layer.number(.policy(.off)) == 1)
        #expect(layer.network.cache.count == 0)
        #expect(try await layer.number(Work()) == 2)
        #expect(try await layer.number(.policy(.off)) == 3, "it does not look either")
        layer.clock.advance(by: .seconds(10))
        #expect(try await layer.number(.policy(.timeToLive(.seconds(5)))) == 4)
        #expect(try await layer.number(QueryCall(), .policy(.timeToLive())) == 5)
        #expect(try await layer.number(QueryCall(), .policy(.timeToLive())) == 5)
    }

    @Test(arguments: [201, 203, 404, 410, 500, 301] as [Int])
    func onlyAcceptedResponsesAreStored(status: Int) async throws {
        layer.server.respond(with: .success(.json("{}", status: HTTPResponse.Status(code: status))))
        _ = try? await layer.network.call(Work())
        #expect(layer.network.cache.count == (status < 300 ? 1 : 0))
    }

    @Test func envelopeErrorsAreNotStored() async throws {
        layer.server.respond(with: .success(.json(#"{"code":5}"#)))
        #expect(await layer.failure(PaintingList(), .policy(.timeToLive()))?.serviceError == ServiceError(code: "5"))
        #expect(layer.network.cache.count == 0)
    }

    @Test func responseToTheEndpointsConditionIsNotStored() async throws {
        layer.server.respond(with: .success(.json("", status: .notModified)))
        _ = try await layer.network.call(Work(fields: ["If-None-Match": "\"a\""]))
        #expect(layer.network.cache.count == 0)
    }

    @Test func rejectedResponsesAreNotStored() async throws {
        layer.server.respond(with: .success(.json(#"{"bad":1}"#)))
        #expect(await layer.failure(Work())?.kind == .invalidResponse)
        #expect(layer.network.cache.count == 0)
    }

    @Test func sameCallRefetchesARejectedStoredResponse() async throws {
        #expect(try await layer.number(Work()) == 1)
        layer.server.respond(with: .success(.json(#"{"good":true}"#)))
        let rawData = try await layer.network.call(Work(refused: "n"))
        #expect(rawData["good"].bool == true && rawData.source == .network)
        #expect(await layer.lastDecisions().prefix(3) == [.hit(age: .zero), .refused, .miss])
        #expect(try await layer.network.call(Work())["good"].bool == true)
    }

    @Test func streamsBypassTheCache() async throws {
        for _ in 0..<2 {
            let response = try await layer.network.stream(Work())
            _ = try await response.body.collect(upTo: 100)
        }
        #expect(layer.network.cache.count == 0 && layer.server.requestCount == 2)
    }

    @Test func aReadingPostIsStoredByItsBody() async throws {
        #expect(try await layer.number(Search(text: "a")) == 1)
        #expect(try await layer.number(Search(text: "b")) == 2)
        #expect(try await layer.number(Search(text: "a")) == 1)
        #expect(try await layer.number(Rename(title: "a")) == 3)
        #expect(try await layer.number(Rename(title: "a")) == 4)
    }

    @Test func anExchangeUsesAnEarlierStoredResponse() async throws {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "gallery.test", path: "/x")
        for source in [ResponseSource.network, .cache] {
            let response = try await layer.network.exchange(
                Request(head: head), with: Gallery.self, options: .policy(.timeToLive()))
            #expect(response.source == source)
        }
        #expect(layer.server.requestCount == 1)
    }

    @Test func unsentCommonParametersDoNotSplitTheCache() async throws {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "gallery.test", path: "/x")
        let changes: [(source: ResponseSource, change: (inout ServiceSettings) -> Void)] = [
            (.network, { _ in }),
            (.cache, { $0.commonHeaders = ["X-Session": "1"] }),
            (.cache, { $0.commonParameters = ["session": 1] }),
            (.cache, { $0.baseURLs[.release] = "https://other.test" }),
            (.network, { $0.account = "ann" }),
            (.network, { $0.environment = .development }),
        ]
        for (source, change) in changes {
            layer.network.configure(Gallery.self, change)
            let response = try await layer.network.exchange(
                Request(head: head), with: Gallery.self, options: .policy(.timeToLive()))
            #expect(response.source == source)
        }
    }

    @Test(arguments: [
        Duration.seconds(Int64.min), .seconds(-1), .zero, .seconds(Int64.max), .seconds(Int64.max) * 10,
    ])
    func extremeLifetimesAreBounded(lifetime: Duration) async throws {
        var policy = CachePolicy.timeToLive(lifetime, staleWhileRevalidate: lifetime, staleIfError: lifetime)
        policy.diskLifetime = lifetime
        _ = try await layer.number(.policy(policy))
        layer.clock.advance(by: .seconds(86_400 * 365))
        #expect(try await layer.number(.policy(policy)) == (lifetime > .zero ? 1 : 2))
        layer.clock.advance(by: .seconds(86_400 * 365 * 300))
        _ = try await layer.number(.policy(policy))
        #expect(layer.server.requestCount <= 3)
    }

    @Test func lifetimesDoNotDependOnTheWallClock() async throws {
        let clock = ManualClock()
        let jumps = Counter()
        let layer = CachedLayer(
            clock: LayerClock(clock) {
                Date(timeIntervalSince1970: [0, 4e12, -4e12, .nan, .infinity][jumps.next() % 5])
            })
        for _ in 0..<10 {
            #expect(try await layer.number(Work()) == 1)
            clock.advance(by: .seconds(17))
        }
        clock.advance(by: .seconds(10))
        #expect(try await layer.number(Work()) == 2)
    }
}
