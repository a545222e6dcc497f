import HTTPTypes
import Hummingbird
import NIOCore
import RunwayJSON
import RunwayServer
import Testing

/// What an envelope may hold, and what becomes of one that may not.
@Suite(.timeLimit(.minutes(10)))
struct EnvelopeTests {
    @Test func itemsRunThroughTheAppsRouterInOrder() async throws {
        let (status, json) = try await MergingApp().post(
            #"""
            {"requests":[{"id":"b","method":"GET","path":"/v1/echo/one?x=1&y=%20","headers":[]},
            {"id":"a","method":"POST","path":"/v1/echo","headers":[["Content-Type","text/x"]],"body":"hé"},
            {"id":"c","method":"POST","path":"/v1/echo","headers":[],"bodyBase64":"/wD+"},
            {"id":"d","method":"GET","path":"/v1/nowhere"}]}
            """#)
        #expect(status == .ok)
        let responses = Array(json["responses"].elements)
        #expect(responses.map { $0["id"].string } == ["b", "a", "c", "d"])
        #expect(responses.map { $0["status"].int } == [200, 201, 201, 404])
        #expect(responses[0]["body"].string == "/v1/echo/one?x=1&y=%20 one /v1/echo/{name}")
        #expect(responses[1]["body"].string == "hé")
        #expect(responses[1]["headers"].elements.map { $0[1].string } == ["text/x"])
        #expect(responses[2]["bodyBase64"].string == "/wD+")
        #expect(!responses[2]["body"].exists)
    }

    @Test func anEmptyEnvelopeHasAnEmptyResponse() async throws {
        let (status, json) = try await MergingApp().post(#"{"requests":[]}"#)
        #expect(status == .ok && json["responses"].kind == .array && json["responses"].count == 0)
    }

    @Test(arguments: [
        "", "not JSON", "[]", "{}", #"{"requests":{}}"#, #"{"requests":[1]}"#, #"{"requests":[{"id":7}]}"#,
        #"{"requests":[{"id":""}]}"#, #"{"requests":[{"method":"GET","path":"/v1/echo/a"}]}"#,
        "{\"requests\":[" + "/v1/echo/a".item("1") + "," + "/v1/echo/b".item("1") + "]}",
        String(repeating: "[", count: 10_000), #"{"requests":[{"id":"1","method":"GET","path":"/v1/ec"#,
    ])
    func invalidEnvelopeIsRefusedWithAReason(_ text: String) async throws {
        let (status, json) = try await MergingApp().post(text)
        #expect(status == .badRequest)
        #expect(json["error"]["message"].string?.isEmpty == false)
    }

    @Test func excessRequestsAndBytesAreRefusedUnrun() async throws {
        var limits = MergingLimits(maximumItems: 2)
        limits.maximumRequestByteCount = 300
        let app = MergingApp(limits: limits)
        let items = (1...3).map { "/v1/echo/a".item("\($0)") }.joined(separator: ",")
        let (status, json) = try await app.post(#"{"requests":[\#(items)]}"#)
        #expect(status == .contentTooLarge && json["error"].exists)
        let long = String(repeating: " ", count: 301)
        #expect(try await app.post(#"{"requests":[]}\#(long)"#).status == .contentTooLarge)
        #expect(
            try await app.post(#"{"requests":[]}"#, headers: [.contentLength: "301"]).status == .contentTooLarge)
    }

    @Test(arguments: [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
    func anotherTypeIsRefused(_ contentType: String?) async throws {
        let (status, _) = try await MergingApp().post(#"{"requests":[]}"#, contentType: contentType)
        #expect(status == .unsupportedMediaType)
    }

    @Test func theTypeMayNameItsCharset() async throws {
        let (status, _) = try await MergingApp().post(
            #"{"requests":[]}"#, contentType: "Application/JSON; charset=utf-8")
        #expect(status == .ok)
    }

    @Test func theBaseMayBeTheRoot() async throws {
        let app = MergingApp(base: "")
        let (status, json) = try await app.post(#"{"requests":[\#("/v1/echo/a".item("1"))]}"#, to: "/_batch")
        #expect(status == .ok)
        #expect(json["responses"][0]["status"].int == 200)
    }

    @Test func theRouteDoesNotRetainItsRouter() async throws {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let held = Token()
            token = held
            let app = MergingApp { router in
                router.get("v1/token") { _, _ in "\(ObjectIdentifier(held).hashValue)" }
            }
            #expect(try await app.responses(to: "/v1/token".item("1"))["1"]?["status"].int == 200)
        }
        #expect(token == nil)
    }
}
