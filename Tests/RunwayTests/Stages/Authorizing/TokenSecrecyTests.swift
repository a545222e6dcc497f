import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct TokenSecrecyTests {
    private static let secret = "hunter2-hunter2"
    private let token = AccessToken(Self.secret, account: "ann", refreshToken: "hunter2-refresh")

    @Test func noTextOfATokenShowsASecret() {
        var dumped = ""
        dump(token, to: &dumped)
        dump([token as Any?], to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped, "\(Optional(token) as Any)"] {
            #expect(!text.contains("hunter2") && text.contains("ann"))
        }
    }

    @Test func tokensAreEqualIfAllPartsAre() {
        #expect(token == AccessToken(Self.secret, account: "ann", refreshToken: "hunter2-refresh"))
        #expect(token != AccessToken("hunter2-hunter3", account: "ann", refreshToken: "hunter2-refresh"))
        #expect(token != AccessToken("hunter2", account: "ann", refreshToken: "hunter2-refresh"))
        #expect(token != AccessToken(Self.secret, account: "bob", refreshToken: "hunter2-refresh"))
        #expect(token != AccessToken(Self.secret, account: "ann"))
        #expect(AccessToken("a", account: "b", refreshToken: "") != AccessToken("a", account: "b"))
    }

    /// A server that quotes the token in its refusal, also where the shown start of the body ends within it.
    @Test func quotedTokenIsNotShown() async throws {
        for padding in 170...205 {
            let body = String(repeating: "x", count: padding) + Self.secret + " is refused"
            let network = NetworkLayer(
                transport: StubTransport { _ in .bytes(Array(body.utf8), contentType: "text/plain", status: .badRequest)
                }, pipeline: .tested,
                limits: LayerLimits(admission: .none, retrying: .none))
            try await network.signIn(token, to: Vault.self)
            let error = await #expect(throws: NetworkError.self) { try await network.call(Vault.Door()) }
            let detail = try #require(error).detail
            #expect(
                detail.contains("the body starts with: xxx") && !detail.contains("hunter2-"), "\(padding): \(detail)")
        }
    }

    @Test func credentialFieldsAreRedactedWhateverTheirNames() async throws {
        let records = RecordCollector()
        let transport = StubTransport { _ in
            var head = HTTPResponse(status: .ok)
            head.headerFields[.contentLanguage] = "you sent \(Self.secret)"
            return Response(head: head, body: .whole(RawData(Array("{}".utf8), response: head)))
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(token, to: Vault.self)
        _ = try await network.call(Vault.Door())
        let sent = try #require(transport.requests.first)
        #expect(sent.head.headerFields[Vault.key] == Self.secret && sent.url.contains(Self.secret))
        let record = try await records.records(count: 1)[0]
        #expect(record.attempts[0].headerFields[Vault.key] == "[redacted]")
        #expect(record.attempts[0].headerFields[.accept] == "text/plain")
        #expect(record.attempts[0].url == "https://vault.test/door?pass=[redacted]")
        #expect(!String(reflecting: record).contains("hunter2"))
        #expect(!"\(record)\(record.attempts[0].curlCommand)".contains("hunter2"))
    }

    @Test func credentialsDoNotFollowRedirectsToOtherOrigins() async throws {
        let transport = StubTransport { request in
            guard request.head.authority == "vault.test" else { return .json("{}") }
            var head = HTTPResponse(status: .found)
            head.headerFields[.location] = "https://thief.test/door"
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(token, to: Vault.self)
        _ = try await network.call(Vault.Door())
        #expect(transport.requests.map { $0.head.headerFields[Vault.key] } == [Self.secret, nil])
        #expect(transport.requests.last?.head.headerFields[.accept] == "text/plain")
    }

    @Test func errorsOfARefreshShowNoSecret() async throws {
        let transport = StubTransport { _ in .json("{}", status: .unauthorized) }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: .none, retrying: .none))
        try await network.signIn(token, to: Vault.self)
        let error = await #expect(throws: NetworkError.self) { try await network.call(Vault.Door()) }
        #expect(error?.kind == .needsLogin)
        #expect(!"\(error as Any) \(String(reflecting: error))".contains("hunter2"))
    }
}

private enum Vault: APIService {
    static let name = "vault"
    static let environments: [ServiceEnvironment: String] = [.release: "https://vault.test"]
    static let credentials: (any Credentials)? = Keys()
    static let key = HTTPField.Name("X-Vault-Key") ?? .cookie

    struct Keys: Credentials {
        func authorize(_ request: inout Request, with token: AccessToken) {
            request.head.headerFields[Vault.key] = token.value
            request.head.path = (request.head.path ?? "") + "?pass=\(token.value)"
        }
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
            throw NetworkError(.needsLogin, in: .transporting, "The token \(token.value) is unknown.")
        }
    }
    struct Door: Endpoint {
        static let service = Vault.self
        var path: EndpointPath { "door" }
        var headers: [String: String] { ["Accept": "text/plain"] }
    }
}
