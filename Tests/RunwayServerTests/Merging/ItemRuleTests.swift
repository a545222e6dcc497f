import HTTPTypes
import Hummingbird
import NIOCore
import RunwayJSON
import RunwayServer
import Testing

/// What one request of an envelope may not be; the others are not touched by it.
@Suite(.timeLimit(.minutes(10)))
struct ItemRuleTests {
    private func refused(_ item: String, in app: MergingApp = MergingApp()) async throws {
        let responses = try await app.responses(to: item, "/v1/echo/good".item("good"))
        #expect(responses["bad"]?["status"].int == 400, "\(item)")
        #expect(responses["bad"]?["body"].string?.contains("message") == true)
        #expect(responses["good"]?["status"].int == 200)
    }

    @Test(arguments: [
        "", "echo/a", "//evil.test/v1/echo/a", "https://evil.test/v1/echo/a", "/v2/echo/a", "/v1x/echo/a", "/",
        "/v1/../admin", "/v1/echo/../../admin", "/v1/%2e%2e/admin", "/v1/.%2E/admin", "/v1/a%2F..%2F..%2Fadmin",
        "/v1/a%5c..%5c..%5cadmin", #"/v1/echo\\..\\admin"#, "/v1/./echo/a", "/v1/echo/%", "/v1/echo/%zz",
        "/v1/echo/a#b", "/v1/echo/a b", "/v1/echo/é", #"/v1/echo/a\r\nHost: evil.test"#, #"/v1/echo/a\u0000"#,
        "/v1/" + String(repeating: "a", count: 9000),
    ])
    func onlyPathsBelowTheBaseAreAccepted(_ path: String) async throws {
        try await refused(path.item("bad"))
    }

    @Test(arguments: [
        "/v1/_batch", "/v1/_batch/", "/v1//_batch", "/v1/_batch?x=1", "/v1/%5Fbatch", "/v1/_BATCH", "/v1/_b%61tch",
    ])
    func anEnvelopeInAnEnvelopeIsRefused(_ path: String) async throws {
        try await refused(
            #"{"id":"bad","method":"POST","path":"\#(path)","headers":[["Content-Type","application/json"]],"body":"{}"}"#
        )
    }

    @Test(arguments: ["CONNECT", "TRACE", "get", "", "GET POST", "BREW", #"GET\r\n"#])
    func aMethodThatIsNoneIsRefused(_ method: String) async throws {
        try await refused(#"{"id":"bad","method":"\#(method)","path":"/v1/echo/a","headers":[]}"#)
    }

    @Test(arguments: [
        #"[["Host","evil.test"]]"#, #"[["Connection","close"]]"#, #"[["transfer-encoding","chunked"]]"#,
        #"[["Upgrade","h2c"]]"#, #"[["X-Forwarded-For","127.0.0.1"]]"#, #"[["x-real-ip","127.0.0.1"]]"#,
        #"[["a b","c"]]"#, #"[["","c"]]"#, #"[[":path","/x"]]"#, #"[["a","b\r\nc: d"]]"#, #"[["a","b\u0000"]]"#,
        #"[["a"]]"#, #"[["a","b","c"]]"#, #"[["a",1]]"#, #"["a"]"#, #"{"a":"b"}"#, #""a: b""#, "null",
    ])
    func invalidHeaderFieldsOfItemsAreRefused(_ headers: String) async throws {
        try await refused("/v1/echo/a".item("bad", headers: headers))
    }

    @Test(arguments: [
        #""body":{}"#, #""body":7"#, #""bodyBase64":"***""#, #""bodyBase64":7"#, #""body":"a","bodyBase64":"YQ==""#,
    ])
    func aBodyThatIsNoneIsRefused(_ body: String) async throws {
        try await refused(#"{"id":"bad","method":"POST","path":"/v1/echo","headers":[],\#(body)}"#)
    }

    @Test func tooManyHeaderFieldsAreRefused() async throws {
        let fields = (0..<65).map { #"["a\#($0)","b"]"# }.joined(separator: ",")
        try await refused("/v1/echo/a".item("bad", headers: "[\(fields)]"))
    }

    @Test func onlyProxyFieldsComeFromTheEnvelope() async throws {
        let app = MergingApp { router in
            router.get("v1/fields") { request, _ in
                request.headers.map { "\($0.name.canonicalName)=\($0.value)" }.sorted().joined(separator: ";")
                    + " \(request.head.scheme ?? "") \(request.head.authority ?? "")"
            }
        }
        var headers: HTTPFields = [.authorization: "outer", .cookie: "outer"]
        headers[HTTPField.Name("X-Forwarded-For")!] = "203.0.113.7"
        let item = "/v1/fields".item(
            "1", headers: #"[["X-A","1"],["x-a","2"],["Content-Length","9"],["Accept-Encoding","gzip"]]"#)
        let response = try await app.responses(to: item, headers: headers)["1"]
        #expect(response?["body"].string == "x-a=1;x-a=2;x-forwarded-for=203.0.113.7 https app.test")
    }
}
