import AsyncHTTPClient
import Foundation
import NIOHTTP1
import Testing

@testable import RunwayDemo

@Suite(.timeLimit(.minutes(10))) struct EnvelopeTests {
    @Test func secondHandHomesComeInTheirTeamsEnvelope() async throws {
        try await withClient(of: ListingsBackend(seed: 3)) { client, _ in
            let body = try await client.get("/esf/list").object()
            #expect(body["status"] as? String == "ok")
            let data = try #require(body["data"] as? [String: Any])
            #expect(data["total"] as? Int == 1200)
            #expect(data["page"] as? Int == 1)
            let list = try #require(data["list"] as? [[String: Any]])
            #expect(list.count == 30)
            #expect(list.allSatisfy { $0.keys.allSatisfy { $0.hasPrefix("esf_") } })
            #expect(list.allSatisfy { $0["esf_total_price"] is Double && $0["esf_id"] is String })
        }
    }

    @Test func rentalsComeInTheirTeamsEnvelope() async throws {
        try await withClient(of: ListingsBackend(seed: 3)) { client, _ in
            let body = try await client.get("/zf/list").object()
            #expect(body["code"] as? Int == 0)
            #expect(body["message"] as? String == "")
            let result = try #require(body["result"] as? [String: Any])
            #expect(result["count"] as? Int == 1200)
            let items = try #require(result["items"] as? [[String: Any]])
            #expect(items.count == 30)
            #expect(items.allSatisfy { $0.keys.allSatisfy { $0.hasPrefix("zf_") } })
            #expect(items.allSatisfy { $0["zf_rent"] is Int && $0["zf_id"] is Int })
        }
    }

    @Test func newHomesComeInTheirTeamsEnvelope() async throws {
        try await withClient(of: ListingsBackend(seed: 3)) { client, _ in
            let body = try await client.get("/xinfang/list").object()
            #expect(body["error"] is NSNull)
            #expect(body["has_more"] as? Bool == true)
            let items = try #require(body["xinfang"] as? [[String: Any]])
            #expect(items.count == 30)
            #expect(items.allSatisfy { $0.keys.allSatisfy { $0.hasPrefix("xinfang_") } })
            let price = try #require(items[0]["xinfang_average_price"] as? String)
            #expect(price.wholeMatch(of: /\d{1,3}(,\d{3})*元\/㎡/) != nil)
        }
    }

    @Test(arguments: ["/esf/list", "/zf/list", "/xinfang/list"])
    func pageOfThirtyIsAbout42Kilobytes(path: String) async throws {
        try await withClient(of: ListingsBackend(seed: 3)) { client, _ in
            let response = try await client.get(path)
            #expect((38_000...48_000).contains(response.body.count))
            let body = try response.object()
            let secondHand = (body["data"] as? [String: Any])?["list"]
            let rentals = (body["result"] as? [String: Any])?["items"]
            let lists = [secondHand, rentals, body["xinfang"]]
            let items = try #require(lists.compactMap { $0 as? [[String: Any]] }.first)
            #expect(items.allSatisfy { $0.count >= 24 && $0.count <= 30 })
        }
    }

    @Test(arguments: ["/esf/list", "/zf/detail/1", "/nowhere", "/failing/list", "/failing/truncated"])
    func everyResponseHasTypeLengthAndDate(path: String) async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let response = try await client.get(path)
            #expect(response.headers.first(name: "content-type") == "application/json; charset=utf-8")
            #expect(response.headers.first(name: "content-length") == "\(response.body.count)")
            #expect(response.headers.first(name: "date")?.hasSuffix("GMT") == true)
            #expect(!response.body.isEmpty)
        }
    }

    @Test func equalSeedsSendEqualBytes() async throws {
        let path = "/zf/list?city=shanghai&page=2"
        let first = try await withClient(of: ListingsBackend(seed: 9)) { client, _ in try await client.get(path).body }
        let second = try await withClient(of: ListingsBackend(seed: 9)) { client, _ in try await client.get(path).body }
        #expect(first == second)
    }

    @Test func clientChoosesBetweenHTTP2AndHTTP1() async throws {
        let automatic = try await withClient(of: ListingsBackend()) { client, _ in
            try await client.get("/esf/list").version
        }
        #expect(automatic == .http2)
        let http1 = try await withClient(of: ListingsBackend(), version: .http1Only) { client, _ in
            try await client.get("/esf/list").version
        }
        #expect(http1 == .http1_1)
    }

    @Test func aPlainBackendSpeaksHTTP1WithoutTLS() async throws {
        let backend = try ListingsBackend(usesTLS: false)
        #expect(backend.certificate == nil)
        try await withClient(of: backend) { client, serving in
            #expect(serving.baseURL.hasPrefix("http://127.0.0.1:"))
            let response = try await client.get("/zf/list")
            #expect(response.status == 200)
            #expect(response.version == .http1_1)
        }
    }
}
