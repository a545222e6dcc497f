import Foundation
import Testing

@testable import RunwayDemo

@Suite(.timeLimit(.minutes(10))) struct FilterTests {
    @Test func aFilterPassesOnlyMatches() async throws {
        try await withClient(of: ListingsBackend(seed: 5)) { client, _ in
            let all = try await secondHand(client, "/esf/list?page_size=100")
            let some = try await secondHand(
                client, "/esf/list?city=hangzhou&district=xihu&price_max=400&page_size=100")
            #expect(!some.isEmpty)
            for item in some {
                #expect(item["esf_city"] as? String == "杭州")
                #expect(item["esf_district"] as? String == "西湖")
                #expect(try #require(item["esf_total_price"] as? Double) <= 400)
            }
            #expect(all.contains { $0["esf_city"] as? String != "杭州" })
            #expect(all.contains { ($0["esf_total_price"] as? Double).map { $0 > 400 } == true })
        }
    }

    @Test func priceLimitIsInEachTeamsUnit() async throws {
        try await withClient(of: ListingsBackend(seed: 5)) { client, _ in
            let rentals = try await client.get("/zf/list?rent_max=3000").object()
            let items = try #require((rentals["result"] as? [String: Any])?["items"] as? [[String: Any]])
            #expect(items.count == 30)
            #expect(items.allSatisfy { ($0["zf_rent"] as? Int).map { $0 <= 3000 } == true })

            let newHomes = try await client.get("/xinfang/list?average_price_max=25000").object()
            let developments = try #require(newHomes["xinfang"] as? [[String: Any]])
            #expect(developments.count == 30)
            for development in developments {
                let text = try #require(development["xinfang_average_price"] as? String)
                let price = try #require(Int(text.filter(\.isNumber)))
                #expect(price <= 25_000)
            }
        }
    }

    @Test func pagesJoinWithoutGapOrRepetition() async throws {
        try await withClient(of: ListingsBackend(seed: 5, listingsPerKind: 205)) { client, _ in
            var ids: [String] = []
            for page in 1...11 {
                ids += try await secondHand(client, "/esf/list?page=\(page)&page_size=20").compactMap {
                    $0["esf_id"] as? String
                }
            }
            #expect(ids == (1...205).map { "E\(100_000 + $0)" })
            #expect(try await secondHand(client, "/esf/list?page=12&page_size=20").isEmpty)
        }
    }

    @Test func offsetsJoinUntilTheServerHasNoMore() async throws {
        try await withClient(of: ListingsBackend(seed: 5, listingsPerKind: 95)) { client, _ in
            var ids: [String] = []
            var hasMore = true
            while hasMore {
                let body = try await client.get("/xinfang/list?offset=\(ids.count)&limit=19").object()
                ids += try #require(body["xinfang"] as? [[String: Any]]).compactMap { $0["xinfang_id"] as? String }
                hasMore = try #require(body["has_more"] as? Bool)
            }
            #expect(ids == (1...95).map { "xf-\($0)" })
        }
    }

    @Test func earlierFilterMayRespondAfterALaterOne() async throws {
        let clock = HeldClock()
        try await withClient(of: ListingsBackend(clock: clock)) { client, serving in
            var sleepers = clock.sleepers.makeAsyncIterator()
            async let earlier = client.get("/esf/list?city=beijing&delay_ms=2000")
            let sleeper = try #require(await sleepers.next())
            #expect(sleeper.duration == .seconds(2))

            let later = try await client.get("/esf/list?city=shanghai")
            #expect(later.status == 200)
            #expect(serving.statistics.total.inFlight == 1)

            sleeper.wake()
            #expect(try await earlier.status == 200)
        }
    }

    private func secondHand(_ client: BackendClient, _ path: String) async throws -> [[String: Any]] {
        let data = try await client.get(path).object()["data"] as? [String: Any]
        return try #require(data?["list"] as? [[String: Any]])
    }
}
