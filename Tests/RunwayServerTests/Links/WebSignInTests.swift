import AsyncHTTPClient
import Hummingbird
import NIOCore
import NIOHTTP1
import RunwaySignatures
import Synchronization
import Testing

@testable import RunwayServer

@Suite(.timeLimit(.minutes(10)))
final class WebSignInTests: Sendable {
    private static let codes = ServerNonces()
    /// Guards the time of the server.
    private let time = Mutex(UnixTime(seconds: 1_800_000_000))
    /// Guards the sessions of the app that have not ended.
    private let sessions = Mutex<Set<String>>(["anna-1"])

    private func half(_ origin: String = "https://m.example.com") -> WebSignIn {
        WebSignIn(origin: origin, codes: Self.codes) { [self] in time.withLock { $0 } }
    }

    /// Posts to a server of the app and the site, and returns status, `Location`, `Set-Cookie` and body.
    private func post(
        _ path: String, _ body: String = "", _ headers: HTTPHeaders = [:], port: Int
    ) async throws -> (status: UInt, location: String?, cookie: String?, body: String) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/\(path)")
        request.method = .POST
        request.headers = headers
        request.body = .bytes(ByteBuffer(string: body))
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        do {
            let response = try await client.execute(request, timeout: .seconds(60))
            let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
            try await client.shutdown()
            let headers = response.headers
            return (response.status.code, headers.first(name: "location"), headers.first(name: "set-cookie"), text)
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    private func serving(_ body: (Int) async throws -> Void) async throws {
        let router = Router()
        let half = half()
        half.addCodes(to: router.group("api")) { request, _ in request.headers[.authorization] }
        half.addSignIn(to: router) { [self] session, _ in
            sessions.withLock { $0.contains(session) } ? "web-of-\(session)" : nil
        }
        try await RunwayServerTests.serving(router, body)
    }

    private func code(_ port: Int) async throws -> String {
        let response = try await post("api/web-sign-in/codes", "", ["authorization": "anna-1"], port: port)
        let match = try #require(response.body.firstMatch(of: /^\{"code":"([\w.=-]+)","expires":1800000060\}$/))
        return String(match.1)
    }

    @Test func aCodeSignsAPageInOnce() async throws {
        try await serving { port in
            let form = "code=\(try await code(port))&to=%2Forders%2Fpay%3Fid%3D7"
            let first = try await post("web-sign-in", form, ["sec-fetch-site": "none"], port: port)
            #expect(first.status == 303 && first.location == "/orders/pay?id=7")
            #expect(first.cookie == "__Host-session=web-of-anna-1; Path=/; Secure; HttpOnly; SameSite=Lax")
            let second = try await post("web-sign-in", form, port: port)
            #expect(second.status == 303 && second.location == "/orders/pay?id=7" && second.cookie == nil)
        }
    }

    @Test func codesOfEndedSessionsSetNoCookie() async throws {
        try await serving { port in
            let code = try await code(port)
            sessions.withLock { $0 = [] }
            let response = try await post("web-sign-in", "code=\(code)&to=%2F", port: port)
            #expect(response.status == 303 && response.cookie == nil)
        }
    }

    @Test func signingOutEndsAllCookiesOfASession() async throws {
        let router = Router()
        let half = half()
        let sessions = WebSessionMemory()
        let session: @Sendable (Request, BasicRequestContext) -> String? = { request, _ in
            request.headers[.authorization]
        }
        half.addCodes(to: router.group("api"), session: session)
        half.addSignIn(to: router) { session, _ in sessions.begin(below: session) }
        half.addSignOut(from: router.group("api"), session: session) { session, _ in sessions.end(below: session) }
        try await RunwayServerTests.serving(router) { port in
            var cookies: [String] = []
            for _ in 0..<2 {
                let response = try await post("web-sign-in", "code=\(try await code(port))&to=%2F", port: port)
                cookies.append(try #require(response.cookie?.wholeMatch(of: /__Host-session=([^;]+);.*/)).1.description)
            }
            let other = try #require(sessions.begin(below: "berta-1"))
            let unused = try await code(port)
            #expect(cookies.map { sessions.session(of: $0) } == ["anna-1", "anna-1"])
            let nobody = try await post("api/web-sign-in/sign-out", port: port)
            #expect(nobody.status == 401 && sessions.session(of: cookies[0]) == "anna-1")
            let ended = try await post("api/web-sign-in/sign-out", "", ["authorization": "anna-1"], port: port)
            #expect(ended.status == 204 && cookies.map { sessions.session(of: $0) } == [nil, nil])
            // The web view clears its data at sign-out, and could still post a code.
            let late = try await post("web-sign-in", "code=\(unused)&to=%2F", port: port)
            #expect(late.status == 303 && late.cookie == nil && sessions.session(of: other) == "berta-1")
        }
    }

    @Test func cookiesAndSessionsAreBounded() throws {
        let sessions = WebSessionMemory(maximumSessions: 10, maximumCookiesPerSession: 2)
        let cookies = (0..<3).compactMap { _ in sessions.begin(below: "anna-1") }
        #expect(cookies.map { sessions.session(of: $0) } == [nil, "anna-1", "anna-1"])
        let last = (0..<20).compactMap { sessions.begin(below: "\($0)") }
        #expect(sessions.session(of: cookies[2]) == nil)
        #expect(last.filter { sessions.session(of: $0) != nil }.count <= 10)
        #expect(sessions.session(of: last[19]) == "19")
        // A session whose cookies were removed can't be ended through them, and has none that is valid.
        sessions.end(below: "0")
        #expect(sessions.session(of: last[0]) == nil && sessions.begin(below: "0") == nil)
    }

    @Test func oneAccountRemovesNoCookieOfOthers() throws {
        let sessions = WebSessionMemory(maximumSessions: 10, maximumCookiesPerSession: 2)
        let cookie = try #require(sessions.begin(below: "anna-1"))
        for _ in 0..<100 { _ = sessions.begin(below: "eve-1") }
        #expect(sessions.session(of: cookie) == "anna-1")
        for number in 0..<100 {
            _ = sessions.begin(below: "eve-\(number)")
            sessions.end(below: "eve-\(number)")
        }
        #expect(sessions.session(of: cookie) == "anna-1")
    }

    @Test func nobodyReceivesACode() async throws {
        try await serving { port in
            let status = try await post("api/web-sign-in/codes", port: port).status
            #expect(status == 401)
        }
    }

    @Test(arguments: ["cross-site", "same-site", "other"])
    func otherSitesSignNobodyIn(site: String) async throws {
        try await serving { port in
            let code = try await code(port)
            let response = try await post("web-sign-in", "code=\(code)&to=%2F", ["sec-fetch-site": site], port: port)
            #expect(response.status == 403 && response.cookie == nil)
        }
    }

    @Test(arguments: ["https://evil.example", "null", "https://m.example.com"])
    func formsOfOlderBrowsersSignNobodyIn(origin: String) async throws {
        try await serving { port in
            let form = "code=\(try await code(port))&to=%2F"
            let response = try await post("web-sign-in", form, ["origin": origin], port: port)
            #expect(response.status == 403 && response.cookie == nil)
            // A page can't forge Fetch Metadata, but may send further fields.
            for site in ["cross-site", "none, cross-site"] {
                let headers: HTTPHeaders = ["sec-fetch-site": site, "origin": "https://m.example.com"]
                let status = try await post("web-sign-in", form, headers, port: port).status
                #expect(status == 403)
            }
            let own = try await post(
                "web-sign-in", form, ["sec-fetch-site": "same-origin", "origin": origin], port: port)
            #expect(own.status == 303 && own.cookie != nil)
        }
    }

    @Test(arguments: [
        "", "to=%2F", "code=a", "code=a&to=", "code=a&to=%2F%2Fevil.example", "code=a&to=%2F%5Cevil.example",
        "code=a&to=https%3A%2F%2Fevil.example", "code=a&to=%2F%0D%0ASet-Cookie%3Aa", "code=a&code=b&to=%2F",
        "code=a&to=%2F&to=%2F",
        "code=a&to=%zz", "code",
    ])
    func invalidFormsAreRefused(form: String) async throws {
        try await serving { port in
            let status = try await post("web-sign-in", form, port: port).status
            #expect(status == 400)
        }
    }

    @Test func codesExpireAfterAMinute() async throws {
        let half = half()
        let code = half.code(for: "anna-1", at: UnixTime(seconds: 1_800_000_000))
        time.withLock { $0 = UnixTime(seconds: 1_800_000_060) }
        #expect(try await half.claim(code) == nil)
        time.withLock { $0 = UnixTime(seconds: 1_799_999_999) }
        #expect(try await half.claim(code) == nil)
        time.withLock { $0 = UnixTime(seconds: 1_800_000_059) }
        #expect(try await half.claim(code) == "anna-1")
        #expect(try await half.claim(code) == nil)
    }

    @Test func codesAreBoundToSessionAndOrigin() async throws {
        let half = half()
        let code = half.code(for: "anna-1", at: UnixTime(seconds: 1_800_000_000))
        let other = half.code(for: "ben-1", at: UnixTime(seconds: 1_800_000_000))
        let mixed =
            code.prefix { $0 != "." } + "." + other.split(separator: ".")[1] + "." + code.split(separator: ".")[2]
        #expect(try await half.claim(String(mixed)) == nil)
        #expect(try await self.half("https://other.example").claim(code) == nil)
        for wrong in [
            "", ".", code + "A", String(code.dropLast()), "s1." + code,
            Self.codes.issue(at: UnixTime(seconds: 1_800_000_000)),
        ] {
            #expect(try await half.claim(wrong) == nil)
        }
        #expect(try await half.claim(code) == "anna-1")
        #expect(try await half.claim(other) == "ben-1")
    }

    @Test func onlyOneOfManyClaimsSucceeds() async throws {
        let half = half()
        let code = half.code(for: "anna-1", at: UnixTime(seconds: 1_800_000_000))
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { try await half.claim(code) != nil } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 1)
    }
}
