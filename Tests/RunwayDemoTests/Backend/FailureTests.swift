import Foundation
import Testing

@testable import RunwayDemo

@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    @Test func badParameterIsRefusedAsEachTeamDoes() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let secondHand = try await client.get("/esf/list?page=zero")
            #expect(secondHand.status == 400)
            let error = try #require(try secondHand.object()["error"] as? [String: Any])
            #expect(error["code"] as? Int == 1002)
            #expect((error["message"] as? String)?.contains("\"page\" is \"zero\"") == true)

            let rental = try await client.get("/zf/list?page_size=101")
            #expect(rental.status == 200)
            #expect(try rental.object()["code"] as? Int == 1002)
            #expect(try rental.object()["result"] is NSNull)

            let newHome = try await client.get("/xinfang/list?district=xihu")
            #expect(newHome.status == 400)
            let newHomeError = try #require(try newHome.object()["error"] as? [String: Any])
            #expect(newHomeError["name"] as? String == "bad_parameter")
        }
    }

    @Test func aDelayBeyondTheBoundIsRefused() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            for path in ["/esf/list?delay_ms=5001", "/slow/list?delay_ms=-1", "/esf/list?delay_ms=soon"] {
                let response = try await client.get(path)
                #expect(response.status == 400)
            }
        }
    }

    @Test func unknownCityIsAnErrorInsideStatus200() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            for path in ["/esf/list?city=atlantis", "/zf/list?city=atlantis", "/xinfang/list?city=atlantis"] {
                let response = try await client.get(path)
                #expect(response.status == 200)
                #expect(String(decoding: response.body, as: UTF8.self).contains("unknown city or district"))
            }
            #expect(try await client.get("/zf/list?city=beijing&district=xihu").object()["code"] as? Int == 1001)
        }
    }

    @Test(arguments: [
        "/esf/detail/E99999999", "/esf/detail/E1", "/zf/detail/1", "/zf/detail/x", "/xinfang/detail/xf-0",
        "/xinfang/detail/1", "/zf", "/nowhere",
    ])
    func whatDoesNotExistIs404(path: String) async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let response = try await client.get(path)
            #expect(response.status == 404)
            #expect(try !response.object().isEmpty)
        }
    }

    @Test func aDetailIsTheListingOfTheList() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let list = try await client.get("/zf/list?page=3").object()["result"] as? [String: Any]
            let item = try #require((list?["items"] as? [NSDictionary])?.last)
            let id = try #require(item["zf_id"] as? Int)
            let detail = try await client.get("/zf/detail/\(id)").object()["result"] as? NSDictionary
            #expect(detail == item)
        }
    }

    @Test func failingListAlternates500And503ByDefault() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            var statuses: [Int] = []
            for path in ["/failing/list", "/failing/list", "/failing/list?status=429", "/failing/list"] {
                statuses.append(try await client.get(path).status)
            }
            #expect(statuses == [500, 503, 429, 500])
            #expect(try await client.get("/failing/list?status=200").status == 400)
        }
    }

    @Test func truncatedBodyIsWholeHTTPAndBrokenJSON() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let response = try await client.get("/failing/truncated")
            #expect(response.status == 200)
            #expect(throws: (any Error).self) { try response.object() }
        }
    }

    @Test func serviceErrorsUseTheTeamsEnvelope() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            #expect(try await client.get("/failing/envelope").object()["code"] as? Int == 2001)
            let housekeeping = try await client.get("/failing/envelope?team=esf&error=housekeeping")
            #expect(housekeeping.status == 200)
            let error = try #require(try housekeeping.object()["error"] as? [String: Any])
            #expect(error["code"] as? Int == 3001)
            let login = try await client.get("/failing/envelope?team=xinfang&error=login_required").object()
            #expect((login["error"] as? [String: Any])?["name"] as? String == "login_required")
            #expect(try await client.get("/failing/envelope?team=nobody").status == 400)
        }
    }
}
