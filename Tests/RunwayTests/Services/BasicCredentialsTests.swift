import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Basic authentication (RFC 7617).
@Suite(.timeLimit(.minutes(5)))
struct BasicCredentialsTests {
    private static let password = "open-sesame-and-more"

    private func layer(respond: @escaping StubTransport.Respond) async throws -> StubbedLayer {
        let layer = StubbedLayer(response: respond)
        try await layer.network.signIn(
            .basic(user: "scheherazade", password: Self.password, account: "s"), to: Printers.self)
        return layer
    }

    /// The examples of RFC 7617 §2 and §2.1, and empty parts.
    @Test(arguments: [
        ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123\u{A3}", "dGVzdDoxMjPCow=="),
        ("", "token", "OnRva2Vu"), ("key", "", "a2V5Og=="), ("", "", "Og=="), ("a", "b:c", "YTpiOmM="),
    ])
    func userAndPasswordAreEncodedByTheStandard(_ user: String, _ password: String, _ text: String) async throws {
        let layer = StubbedLayer()
        try await layer.network.signIn(.basic(user: user, password: password, account: "ann"), to: Printers.self)
        let request = try await layer.request(of: Printers.Queue())
        #expect(request.head.headerFields[.authorization] == "Basic \(text)")
    }

    @Test func textIsNormalisedBeforeItIsEncoded() throws {
        let composed = try AccessToken.basic(user: "Zo\u{EB}", password: "\u{E9}", account: "z")
        let decomposed = try AccessToken.basic(user: "Zoe\u{308}", password: "e\u{301}", account: "z")
        #expect(composed == decomposed)
        // A mark at the start of the password does not join the colon before it.
        #expect(throws: Never.self) { try AccessToken.basic(user: "a", password: "\u{338}b", account: "a") }
    }

    @Test(arguments: [
        ("a:b", "c"), (":", ""), ("a:\u{301}", "c"), ("a\n", "c"), ("a", "c\u{7F}"), ("a", "\0"), ("\u{1B}", ""),
    ])
    func textThatTheStandardForbidsIsRefused(_ user: String, _ password: String) throws {
        let error = #expect(throws: NetworkError.self) {
            try AccessToken.basic(user: user, password: password, account: "ann")
        }
        #expect(error?.kind == .invalidParameters)
    }

    @Test func recordsAndErrorsShowNeitherNameNorPassword() async throws {
        let layer = try await layer { _ in
            var response = Response.json("{}", status: .forbidden)
            response.head.headerFields[.contentLanguage] = "you are scheherazade with \(Self.password)"
            return response
        }
        let error = try await layer.failure(of: Printers.Queue())
        #expect(error.kind == .refused)
        let record = try await layer.record()
        #expect(record.attempts[0].headerFields[.authorization] == Redaction.placeholder)
        let token = try AccessToken.basic(user: "scheherazade", password: Self.password, account: "s")
        for text in [String(reflecting: record), "\(record)", record.attempts[0].curlCommand, "\(error)", "\(token)"] {
            for secret in ["scheherazade", Self.password, token.value] { #expect(!text.contains(secret)) }
        }
    }

    @Test func aRedirectToAnotherOriginCarriesNoPassword() async throws {
        let layer = try await layer { request in
            guard request.head.authority == "printers.test" else { return .json("{}") }
            var response = Response.json("", status: .found)
            response.head.headerFields[.location] = "https://thief.test/queue"
            return response
        }
        _ = try await layer.network.call(Printers.Queue())
        #expect(layer.transport.requests.map { $0.head.headerFields[.authorization] != nil } == [true, false])
    }

    @Test func storedResponsesAreOfOneUser() async throws {
        let layer = try await layer { _ in .json("{}") }
        for _ in 0..<2 { _ = try await layer.network.call(Printers.Settings()) }
        #expect(layer.transport.requests.count == 1)
        try await layer.network.signIn(.basic(user: "dinarzade", password: "p", account: "d"), to: Printers.self)
        _ = try await layer.network.call(Printers.Settings())
        #expect(layer.transport.requests.count == 2)
    }

    @Test func refusedPasswordIsForgottenAndNotSentAgain() async throws {
        let layer = try await layer { _ in .json("{}", status: .unauthorized) }
        #expect(try await layer.failure(of: Printers.Queue()).kind == .needsLogin)
        #expect(try await layer.failure(of: Printers.Queue()).kind == .needsLogin)
        #expect(layer.transport.requests.count == 1)
    }
}

private enum Printers: APIService {
    static let name = "printers"
    static let environments: [ServiceEnvironment: String] = [.release: "https://printers.test"]
    static let credentials: (any Credentials)? = BasicCredentials()

    struct Queue: Endpoint {
        static let service = Printers.self
        var path: EndpointPath { "queue" }
    }
    struct Settings: Endpoint {
        static let service = Printers.self
        static let cache = CachePolicy.timeToLive(.seconds(100))
        var path: EndpointPath { "settings" }
    }
}
