import HTTPTypes
import Hummingbird
import NIOCore
import RunwayFormats
import Testing

@testable import RunwayServer

/// Which requests pass the rules of hosts and web pages.
struct HostRulesTests {
    private static let named = HostRules(["api.example.com", "192.0.2.7"])
    private static let host = HTTPField.Name("Host", known: ())

    private func head(_ authority: String?, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .post)
        -> HTTPRequest
    {
        HTTPRequest(method: method, scheme: "http", authority: authority, path: "/log", headerFields: fields)
    }

    @Test(arguments: [
        "localhost", "LOCALHOST:8080", "app.localhost", "localhost.", "127.0.0.1", "127.8.9.1:1", "[::1]", "[::1]:80",
        "[0:0:0:0:0:0:0:1]",
    ])
    func loopbackIsTheServersOwn(authority: String) {
        #expect(HostRules.loopback.refusal(of: head(authority)) == nil)
    }

    @Test(arguments: [
        "evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "evillocalhost", "10.0.0.1", "0.0.0.0", "[::2]",
        "[::ffff:10.0.0.1]", "2130706433", "0x7f.1", "api.example.com", "127.evil.test", "::1.evil.test",
    ])
    func foreignHostIsRefused(authority: String) {
        let refusal = HostRules.loopback.refusal(of: head(authority))
        #expect(refusal == .host || refusal == .malformed)
    }

    @Test(arguments: [nil, "", ":80", "user@localhost", "localhost:8a", "localhost:80:80", "[::1", "[::1]x"])
    func malformedAuthorityIsRefused(authority: String?) {
        #expect(HostRules.loopback.refusal(of: head(authority)) == .malformed)
    }

    @Test func secondHostThatDiffersIsRefused() {
        #expect(HostRules.loopback.refusal(of: head("localhost", [Self.host: "evil.test"])) == .malformed)
        #expect(HostRules.loopback.refusal(of: head(nil, [Self.host: "localhost"])) == nil)
        var absolute = head("localhost")
        absolute.path = "http://evil.test/log"
        #expect(HostRules.loopback.refusal(of: absolute) == .malformed)
    }

    @Test func configuredHostsPass() {
        for authority in ["api.example.com", "API.example.com:8443", "api.example.com.", "192.0.2.7:80"] {
            #expect(Self.named.refusal(of: head(authority)) == nil, "\(authority)")
        }
        for authority in ["example.com", "x.api.example.com", "192.0.2.8"] {
            #expect(Self.named.refusal(of: head(authority)) == .host, "\(authority)")
        }
        var strict = Self.named
        strict.acceptsLoopback = false
        #expect(strict.refusal(of: head("localhost")) == .host)
    }

    @Test func configuredPortMakesNoDifference() {
        let rules = HostRules(["api.example.com:8443", "[2001:db8::1]:8443"])
        for authority in ["api.example.com:8443", "api.example.com", "[2001:db8::1]:8443"] {
            #expect(rules.refusal(of: head(authority)) == nil, "\(authority)")
        }
        #expect(rules.refusal(of: head("example.com:8443")) == .host)
    }

    @Test func addressesPassWhereNamesDoNot() {
        var rules = HostRules()
        rules.acceptsAddresses = true
        for authority in ["10.0.0.1:8080", "[2001:db8::1]"] { #expect(rules.refusal(of: head(authority)) == nil) }
        for authority in ["evil.test", "10.0.0.1.evil.test", "2001:db8::1"] {
            #expect(rules.refusal(of: head(authority)) != nil)
        }
    }

    @Test(arguments: ["http://evil.test", "null", "http://localhost:3000", "http://127.0.0.1:8080", ""])
    func originIsRefused(origin: String) {
        for method in [HTTPRequest.Method.get, .post, .options, .delete] {
            #expect(HostRules.loopback.refusal(of: head("localhost", [.origin: origin], method: method)) == .origin)
        }
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "", nil])
    func contentOfAnotherTypeIsRefused(type: String?) {
        var fields: HTTPFields = [.contentLength: "2"]
        fields[.contentType] = type
        #expect(HostRules.loopback.refusal(of: head("localhost", fields)) == .mediaType)
        var chunked: HTTPFields = [.transferEncoding: "chunked"]
        chunked[.contentType] = type
        #expect(HostRules.loopback.refusal(of: head("localhost", chunked)) == .mediaType)
    }

    @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "application/json ;a=b"])
    func contentInJSONPasses(type: String) {
        #expect(HostRules.loopback.refusal(of: head("localhost", [.contentLength: "2", .contentType: type])) == nil)
    }

    @Test(arguments: [HTTPRequest.Method.get, .head]) func typeWithoutContentPasses(method: HTTPRequest.Method) {
        let read = head("localhost", [.contentType: "text/plain"], method: method)
        #expect(HostRules.loopback.refusal(of: read) == nil)
    }

    @Test func secondContentTypeIsRefused() {
        var fields: HTTPFields = [.contentLength: "2", .contentType: "application/json"]
        fields.append(HTTPField(name: .contentType, value: "text/plain"))
        #expect(HostRules.loopback.refusal(of: head("localhost", fields)) == .mediaType)
    }

    @Test func requestWithoutContentNeedsNoType() {
        for fields: HTTPFields in [[:], [.contentLength: "0"]] {
            #expect(HostRules.loopback.refusal(of: head("localhost", fields)) == nil)
            #expect(HostRules.loopback.refusal(of: head("localhost", fields, method: .get)) == nil)
        }
    }

    /// A request to a guarded app with merged requests.
    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields, by rules: HostRules = .loopback
    ) async throws -> Response {
        let router = Router(context: AppContext.self)
        router.get("a") { _, _ in "a" }
        router.post("log") { _, _ -> HTTPResponse.Status in throw HTTPError(.conflict) }
        let responder = GuardedRouter(MergingRouter(router), rules).buildResponder()
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: path, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        return try await responder.respond(to: request, context: AppContext(source: AppContext.Source()))
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/a"), (.post, "/_batch"), (.get, "/nothing"), (.put, "/a"), (.options, "/a"),
    ])
    func everyRouteIsBehindTheGuard(method: HTTPRequest.Method, path: String) async throws {
        let response = try await send(method, path, [.origin: "http://evil.test"])
        #expect(response.status == .forbidden && response.headers[.contentType] == "application/problem+json")
    }

    @Test func allowedPageReadsResponses() async throws {
        #expect(try await send(.get, "/a", [:]).headers[.accessControlAllowOrigin] == nil)
        var rules = HostRules.loopback
        rules.origins = ["HTTP://Shop.test"]
        let asking: HTTPFields = [
            .origin: "http://shop.test", .accessControlRequestMethod: "POST",
            .accessControlRequestHeaders: "content-type",
        ]
        let asked = try await send(.options, "/log", asking, by: rules)
        #expect(asked.status == .noContent && asked.headers[.accessControlAllowOrigin] == "http://shop.test")
        #expect(asked.headers[.accessControlAllowMethods] == "POST")
        #expect(asked.headers[.accessControlAllowHeaders] == "content-type" && asked.headers[.vary] == "Origin")
        let sent = try await send(
            .post, "/log", [.origin: "http://shop.test", .contentType: "application/json"], by: rules)
        #expect(sent.status == .conflict && sent.headers[.accessControlAllowOrigin] == "http://shop.test")
        let other = try await send(.options, "/log", [.origin: "http://evil.test"], by: rules)
        #expect(other.status == .forbidden && other.headers[.accessControlAllowOrigin] == nil)
    }
}
