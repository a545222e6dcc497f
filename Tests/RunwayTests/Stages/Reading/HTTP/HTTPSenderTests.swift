import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Private responses of users that no account distinguishes.
@Suite(.timeLimit(.minutes(5)))
struct HTTPSenderTests {
    private let cached = HTTPCachedLayer()

    private static var fresh: Response {
        var response = Response.json("{}")
        response.head.headerFields[.cacheControl] = "max-age=60"
        return response
    }

    private func freshResponses() -> StubTransport { StubTransport { _ in Self.fresh } }

    private func fields(_ name: String, _ value: String) throws -> HTTPFields {
        [try #require(HTTPField.Name(name)): value]
    }

    @Test(
        arguments: [
            "Authorization", "Proxy-Authorization", "Cookie", "Host", "X-API-Key", "x-api-key", "apikey",
            "X-Auth-Token",
            "Private-Token", "Sec-Token", "X-Vault-Token", "X-Session-Id", "X-Amz-Security-Token", "DPoP", "Signature",
            "X-CSRF-Token", "X-Amz-Signature", "Client-Secret", "X-Auth", "JWT", "X-Member", "x-member",
            "X-Library-Card",
        ], [nil, "kim"])
    func privateResponsesDoNotReachAnotherSender(_ name: String, _ account: String?) async throws {
        cached.network.configure(Library.self) {
            $0.account = account
            $0.authenticatingFields = ["X-MEMBER", "x-library-card"]
        }
        for body in ["ann's", "bob's", "nobody's"] { cached.respond(body, [.cacheControl: "private, max-age=60"]) }
        let (ann, bob) = (try fields(name, "ann"), try fields(name, "bob"))
        try await cached.send("/a", ann)
        #expect(try await cached.send("/a", bob).text == "bob's")
        #expect(try await cached.send("/a").text == "nobody's")
        #expect(try await cached.send("/a", ann).text == "ann's")
        #expect(cached.sent == 3)
    }

    /// What libraries of tracing, of experiments and of apps send, and what no list can have.
    @Test(arguments: [
        "Accept", "User-Agent", "X-Request-ID", "traceparent", "Sec-Fetch-Mode", "Referer", "Priority", "sentry-trace",
        "baggage", "b3", "X-B3-TraceId", "x-datadog-trace-id", "X-Amzn-Trace-Id", "uber-trace-id", "newrelic",
        "Req-Num",
        "Test-ID", "X-Client-Version", "X-Device-Model", "X-Experiments", "X-Forwarded-For", "From", "Via", "X-7f3a9c",
        "Sec-WebSocket-Protocol", "X-Token-Type", "X-Keyboard", "Passenger", "Idempotency-Key",
    ])
    func anyOtherFieldSharesResponses(_ name: String) async throws {
        cached.respond([.cacheControl: "private, max-age=60"])
        try await cached.send("/a", fields(name, "1"))
        #expect(try await cached.send("/a", fields(name, "2")).source == .cache)
        #expect(try await cached.send("/a").source == .cache)
        #expect(cached.sent == 1)
    }

    /// RFC 9111 §4.1.
    @Test func varyNamesFurtherFieldsThatSelect() async throws {
        cached.respond("one", [.cacheControl: "max-age=60", .vary: "X-Branch"])
        try await cached.send("/a", fields("X-Branch", "one"))
        cached.respond("two", [.cacheControl: "max-age=60", .vary: "x-branch"])
        #expect(try await cached.send("/a", fields("X-Branch", "two")).text == "two")
        for branch in ["one", "two"] {
            var asked = try fields("X-Branch", branch)
            asked[try #require(HTTPField.Name("sentry-trace"))] = "another for \(branch)"
            #expect(try await cached.send("/a", asked).text == branch)
        }
        #expect(cached.sent == 2)
    }

    /// What `Credentials` set counts when a caller sets it by hand, before any call had a token.
    @Test func fieldsOfCredentialsSeparateSenders() async throws {
        for body in ["ann's", "bob's"] { cached.respond(body, [.cacheControl: "max-age=60"]) }
        for name in ["ann", "bob", "ann", "bob"] {
            let response = try await cached.network.exchange(
                cached.request("/a", fields("X-Reader", name)), with: ReadersDesk.self,
                options: CallOptions(cache: .http()))
            #expect(response.text == "\(name)'s")
        }
        #expect(cached.sent == 2)
    }

    @Test func fieldsThatRedactionAddsSeparateSenders() async throws {
        let badge = try #require(HTTPField.Name("X-Badge"))
        let redaction = Redaction(headerFields: Redaction.secretHeaderFields.union([badge]))
        for (redaction, count) in [(redaction, 2), (.default, 1), (.none, 1)] {
            let transport = freshResponses()
            let network = NetworkLayer(transport: transport, pipeline: .tested, redaction: redaction)
            for value in ["1", "2"] {
                let options = CallOptions(cache: .http(), headers: ["X-Badge": value])
                _ = try await network.call(Book(), options: options)
            }
            #expect(transport.requests.count == count)
        }
    }

    @Test(arguments: ["Authorization", "X-API-Key"])
    func hiddenOrShownSecretsSeparateSenders(_ name: String) async throws {
        let transport = freshResponses()
        let network = NetworkLayer(transport: transport, pipeline: .tested, redaction: .none)
        for value in ["1", "2", "1"] {
            _ = try await network.call(Book(), options: CallOptions(cache: .http(), headers: [name: value]))
        }
        #expect(transport.requests.count == 2)
    }

    /// The trace of each call differs, and the stale response is revalidated once.
    @Test func otherFieldsShareARevalidation() async throws {
        cached.respond([.cacheControl: "max-age=1, stale-while-revalidate=60"])
        try await cached.send("/a")
        cached.advance(2)
        let gate = ScriptedGate()
        cached.respond(with: { _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "gone") }
            return Self.fresh
        })
        for number in 1...5 {
            #expect(try await cached.send("/a", fields("traceparent", "\(number)")).source == .staleCache)
        }
        try await gate.waitForArrivals(count: 1)
        #expect(cached.sent == 2)
        gate.open()
        try await waitUntil { cached.network.cache.background.count == 0 }
    }

    @Test func declaredFieldsAreNotRecorded() async throws {
        cached.network.configure(Library.self) { $0.authenticatingFields = ["x-member"] }
        cached.respond([.cacheControl: "max-age=60"])
        try await cached.send("/a", fields("X-Member", "card-4711"))
        let record = try #require(try await cached.records.records(count: 1).first)
        let recorded = record.attempts[0].headerFields
        #expect(recorded[try #require(HTTPField.Name("X-Member"))] == Redaction.placeholder)
        #expect(!"\(record)".contains("card-4711"))
    }

    @Test func fieldOrderDoesNotSeparateSenders() async throws {
        let (key, who) = (try #require(HTTPField.Name("X-API-Key")), try #require(HTTPField.Name("X-Auth-Token")))
        cached.respond([.cacheControl: "private, max-age=60"])
        try await cached.send("/a", [key: "1", who: "2"])
        #expect(try await cached.send("/a", [who: "2", key: "1"]).source == .cache)
        cached.respond("another")
        #expect(try await cached.send("/a", [who: "1", key: "2"]).text == "another")
    }

    @Test func privateResponsesDoNotOutliveACookieChange() async throws {
        cached.network.configure(Library.self) { $0.cookies = .jar() }
        cached.respond("ann's", [.cacheControl: "private, max-age=60"])
        try await cached.send("/a")
        #expect(try await cached.send("/a").source == .cache)
        // The sign-out at the server's own: its response is of who was signed in, and ends that user's cookie.
        cached.respond("ann's last", [.cacheControl: "private, max-age=60", .setCookie: "session=bob"])
        try await cached.send("/bye")
        cached.respond("bob's", [.cacheControl: "private, max-age=60"])
        #expect(try await cached.send("/a").text == "bob's")
        cached.respond("bob's last", [.cacheControl: "private, max-age=60"])
        #expect(try await cached.send("/bye").text == "bob's last")
    }
}

/// A service whose readers are named by a field that no list knows.
private enum ReadersDesk: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://library.test"]
    static let credentials: (any Credentials)? = ReaderCredentials()
}

private struct ReaderCredentials: Credentials {
    func authorize(_ request: inout Request, with token: AccessToken) {
        if let name = HTTPField.Name("X-Reader") { request.head.headerFields[name] = token.account }
    }
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
}
