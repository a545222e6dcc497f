import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// What is sent in an envelope, and what is not.
@Suite(.timeLimit(.minutes(10)))
struct MergeEnvelopeTests {
    private func envelope<E: Endpoint>(
        of endpoints: [E], _ change: (inout ServiceSettings) -> Void = { _ in }
    ) async throws -> Request {
        let layer = MergingLayer()
        layer.network.configure(Merged.self, change)
        for call in try await layer.merge(endpoints) { _ = try await call.value }
        return try #require(layer.server.requests.last)
    }

    private func headers(of item: JSONValue) -> [String: String] {
        Dictionary(item["headers"].elements.map { ($0[0].string ?? "", $0[1].string ?? "") }, uniquingKeysWith: { $1 })
    }

    @Test func envelopeIsPostedAsJSONToTheRoute() async throws {
        let request = try await envelope(of: [Read("a"), Read("b")])
        #expect(request.head.method == .post)
        #expect(request.url == "https://merged.test/v1/_batch")
        #expect(request.head.headerFields[.contentType] == "application/json")
        #expect(request.items.map { $0["id"].string } == ["1", "2"])
        #expect(request.items.map { $0["method"].string } == ["GET", "GET"])
        #expect(request.itemPaths == ["/v1/a", "/v1/b"])
        #expect(request.items.allSatisfy { !$0["body"].exists && !$0["bodyBase64"].exists })
    }

    @Test func routeAndTheQueryAreTheServicesOwn() async throws {
        struct Query: Endpoint {
            static let service = Merged.self
            static let coalesces = false
            var path: EndpointPath { "q" }
            var text = "上海 & more"
        }
        let request = try await envelope(of: [Query(), Query()]) { $0.merging?.path = "many/at-once" }
        #expect(request.url == "https://merged.test/v1/many/at-once")
        #expect(request.itemPaths[0].hasPrefix("/v1/q?text=%E4%B8%8A%E6%B5%B7"))
    }

    @Test func itemsHaveTheTokenAndNoConnectionFields() async throws {
        let fields = [
            "Authorization": "Bearer one", "Connection": "X-Private", "X-Private": "1", "TE": "trailers",
            "Upgrade-Insecure-Requests": "1", "Accept-Encoding": "br", "Proxy-Authorization": "secret",
            "If-None-Match": "\"7\"", "Keep-Alive": "5",
        ]
        let request = try await envelope(of: [
            Read("a", headers: fields), Read("b", headers: ["Authorization": "Bearer two"]),
        ])
        let first = headers(of: request.items[0])
        #expect(
            first == ["Authorization": "Bearer one", "Upgrade-Insecure-Requests": "1", "If-None-Match": "\"7\""])
        #expect(headers(of: request.items[1])["Authorization"] == "Bearer two")
        #expect(request.head.headerFields[.authorization] == nil)
    }

    @Test func envelopeHasTheCommonFieldsAndToken() async throws {
        let fields = ["Authorization": "Bearer one"]
        let request = try await envelope(of: [Read("a", headers: fields), Read("b", headers: fields)]) {
            $0.commonHeaders = ["X-App": "7", "Content-Type": "text/plain"]
        }
        #expect(request.head.headerFields[.authorization] == "Bearer one")
        #expect(request.head.headerFields[HTTPField.Name("X-App")!] == "7")
        #expect(request.head.headerFields[.contentType] == "application/json")
        #expect(headers(of: request.items[0])["Authorization"] == "Bearer one")
    }

    @Test func textBodiesAreUnchangedAndOthersBase64() async throws {
        let text = "{\"a\":\"\u{0}é\\\n\u{FEFF}\"}"
        let request = try await envelope(of: [
            Write(content: .bytes(Array(text.utf8))), Write(content: .bytes([0xFF, 0, 0xFE])),
            Write(content: .bytes([])),
        ])
        #expect(request.items[0]["body"].string.map { Array($0.utf8) } == Array(text.utf8))
        #expect(!request.items[0]["bodyBase64"].exists)
        #expect(request.items[1]["bodyBase64"].string == Data([0xFF, 0, 0xFE]).base64EncodedString())
        #expect(!request.items[1]["body"].exists)
        #expect(!request.items[2]["body"].exists && !request.items[2]["bodyBase64"].exists)
        #expect(headers(of: request.items[0])["Content-Type"] == "application/octet-stream")
    }

    @Test func requestForTheRouteItselfIsNotMerged() async throws {
        let layer = MergingLayer()
        let first = try await layer.holdOne()
        _ = try await layer.network.call(Read("_batch"))
        #expect(layer.server.paths == ["/v1/held", "/v1/_batch"])
        layer.server.held.open()
        _ = try await first.value
    }
}
