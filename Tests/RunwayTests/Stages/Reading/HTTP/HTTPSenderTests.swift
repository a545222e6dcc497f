import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Private responses of users that no account distinguishes.
@Suite(.timeLimit(.minutes(5)))
struct HTTPSenderTests {
    private let cached = HTTPCachedLayer()

    private func fields(_ name: String, _ value: String) throws -> HTTPFields {
        [try #require(HTTPField.Name(name)): value]
    }

    @Test(
        arguments: [
            "Authorization", "X-API-Key", "X-Auth-Token", "Private-Token", "X-Who-Am-I", "Cookie", "From", "Host",
            "X-Forwarded-For", "Proxy-Authorization", "Sec-Token", "Sec-WebSocket-Protocol", "Baggage",
        ], [nil, "kim"])
    func privateResponsesDoNotReachAnotherSender(_ name: String, _ account: String?) async throws {
        cached.network.configure(Library.self) { $0.account = account }
        for body in ["ann's", "bob's", "nobody's"] { cached.respond(body, [.cacheControl: "private, max-age=60"]) }
        let (ann, bob) = (try fields(name, "ann"), try fields(name, "bob"))
        try await cached.send("/a", ann)
        #expect(try await cached.send("/a", bob).text == "bob's")
        #expect(try await cached.send("/a").text == "nobody's")
        #expect(try await cached.send("/a", ann).text == "ann's")
        #expect(cached.sent == 3)
    }

    @Test(arguments: ["Accept", "User-Agent", "X-Request-ID", "traceparent", "Sec-Fetch-Mode", "Referer", "Priority"])
    func fieldsIrrelevantToTheSenderShareResponses(_ name: String) async throws {
        cached.respond([.cacheControl: "private, max-age=60"])
        try await cached.send("/a", fields(name, "1"))
        #expect(try await cached.send("/a", fields(name, "2")).source == .cache)
    }

    @Test func fieldOrderDoesNotSeparateSenders() async throws {
        let (key, who) = (try #require(HTTPField.Name("X-Key")), try #require(HTTPField.Name("X-Who")))
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
