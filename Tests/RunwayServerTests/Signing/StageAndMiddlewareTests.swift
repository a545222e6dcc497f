import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwayServer
import RunwaySignatures
import RunwaySigning
import RunwayTesting
import RunwayTransport
import Testing

private enum Shop: APIService {
    static let name = "shop"
    static let environments: [ServiceEnvironment: String] = [.release: "https://api.example.com/v1"]
    static let deadline = Duration.seconds(600)
}

private struct Echo: Endpoint {
    static let service = Shop.self
    let path: EndpointPath
    var parameters: Parameters { ["q": "x y/~", "p": ""] }
    func encode(to encoder: any Encoder) {}
}

private struct Mirror: Endpoint {
    static let service = Shop.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    @Unencoded var bytes: [UInt8]
    var path: EndpointPath { "mirror" }
    var content: RequestBody { .bytes(bytes) }
}

private struct OneKey: RequestKeyStore {
    let key: RequestKey

    func key(for owner: KeyOwner) -> RequestKey? { key }
}

/// Sends requests for the public origin to the server of a test, as a proxy does that terminates TLS.
private struct TerminatingProxy: Transport {
    let wire: NIOTransport
    let authority: String
    /// What the proxy changes that a signature covers.
    var tamper: @Sendable (inout Request) -> Void = { _ in }
    /// The number of the first requests that the proxy sends twice, passing on the second response.
    let doubled: AwaitedValue<Int>
    /// What happens between the two.
    var between: @Sendable () -> Void = {}

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        var request = request
        request.head.scheme = "http"
        request.head.authority = authority
        tamper(&request)
        if doubled.value > 0 {
            doubled.update { $0 -= 1 }
            _ = try await wire.send(request, in: flight)
            between()
        }
        return try await wire.send(request, in: flight)
    }
}

/// The stage that signs requests, against the middleware that verifies them.
@Suite(.timeLimit(.minutes(5)))
struct StageAndMiddlewareTests {
    private static let deviceKey = RequestKey(id: "k-2", signer: SigningKey.p256(SignedServer.deviceKey))

    private func layer(
        _ server: SignedServer, _ policy: SigningPolicy, _ key: RequestKey, sinks: [any EventSink] = [],
        clock: LayerClock = .system, doubling count: Int = 0,
        tamper: @escaping @Sendable (inout Request) -> Void = { _ in },
        between: @escaping @Sendable () -> Void = {}
    ) throws -> NetworkLayer {
        let wire = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
        var pipeline = RequestPipeline()
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: OneKey(key: key)), before: .signing)
        let authority = String(server.url.dropFirst("http://".count))
        return NetworkLayer(
            transport: TerminatingProxy(
                wire: wire, authority: authority, tamper: tamper, doubled: AwaitedValue(count),
                between: between),
            pipeline: pipeline, clock: clock, sinks: sinks)
    }

    /// Runs a server whose clock differs from this machine's.
    private func serve(
        off difference: Duration = .zero, rules: (inout SignatureRules) -> Void = { _ in },
        _ body: @escaping @Sendable (SignedServer) async throws -> Void
    ) async throws {
        try await withSignedServer(rules: rules) { server in
            server.time.set(UnixTime(seconds: Int64(Date.now.timeIntervalSince1970)) + difference)
            try await body(server)
        }
    }

    @Test func requestsAndResponsesAreVerifiedAtBothEnds() async throws {
        let key = Curve25519.Signing.PrivateKey()
        let record = KeyRecord(id: "server", key: .ed25519(key.publicKey), owner: "server")
        try await serve { rules in
            rules.responses = ResponseSigning(by: SigningKey.ed25519(key), keyID: "server", tag: "reply")
        } _: { server in
            var policy = SigningPolicy(.signature(tag: "app"))
            policy.responses = ResponseSignatures(tag: "reply", keys: InMemoryKeyDirectory([record]))
            let network = try layer(server, policy, Self.deviceKey)
            let echo = try await network.call(Echo(path: "echo/a%2Fb"))
            #expect(echo.text?.hasPrefix("k-2 ben /v1/echo/a%2Fb?") == true)
            #expect(try await network.call(Mirror(bytes: Array(0...255))).bytes == Array(0...255))
        }
    }

    /// Only the server's policy names the field: the app covers it after the server has asked for it.
    @Test func structuredFieldOfTheServiceIsSigned() async throws {
        let field = try #require(HTTPField.Name("X-Dict"))
        try await serve { rules in
            Self.sign(&rules)
            rules.structuredFieldTypes["x-dict"] = .dictionary
            rules.policy.requiredComponents.append(.field(field).strict)
        } _: { server in
            var policy = verifyingPolicy
            policy.structuredFieldTypes["x-dict"] = .dictionary
            let network = try layer(server, policy, Self.deviceKey)
            network.configure(Shop.self) { $0.commonHeaders = ["X-Dict": "a=1,   b"] }
            #expect(try await network.call(Echo(path: "echo/a")).text?.hasPrefix("k-2 ben ") == true)
            #expect(try server.outcomes("coverage") == 1)
        }
    }

    @Test func clientWithAWrongClockIsCorrectedOnce() async throws {
        try await serve(off: .seconds(3_600)) { server in
            let network = try layer(server, SigningPolicy(.signature(tag: "app")), Self.deviceKey)
            #expect(try await network.call(Echo(path: "echo/a")).text?.hasPrefix("k-2 ben ") == true)
            _ = try await network.call(Echo(path: "echo/b"))
            #expect(try server.outcomes("tooOld") == 1)
            #expect(server.handled.value == 2)
        }
    }

    /// The device's clock is slow, and the server issues nonces: both offer a correction.
    @Test(arguments: [Duration.zero, .seconds(60)])
    func doubledPostIsExecutedOnce(difference: Duration) async throws {
        try await serve(off: difference, rules: { $0.policy.serverNonces = ServerNonces() }) { server in
            let network = try layer(server, SigningPolicy(.signature(tag: "app")), Self.deviceKey, doubling: 1)
            let error = await #expect(throws: NetworkError.self) { try await network.call(Mirror(bytes: [1, 2])) }
            #expect(error?.kind == .refused && error?.sending == .sent)
            #expect(try server.handled.value == 1 && server.outcomes("replayed") == 1)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(60)])
    func doubledReadIsSignedAnewOnce(difference: Duration) async throws {
        try await serve(off: difference, rules: { $0.policy.serverNonces = ServerNonces() }) { server in
            let network = try layer(server, SigningPolicy(.signature(tag: "app")), Self.deviceKey, doubling: 1)
            #expect(try await network.call(Echo(path: "echo/a")).text?.hasPrefix("k-2 ben ") == true)
            #expect(try server.handled.value == 2 && server.outcomes("replayed") == 1)
        }
    }

    @Test func newlyStartedServerAcceptsNewSignatures() async throws {
        let date = Date(timeIntervalSince1970: Double(ServerTime.start.seconds))
        try await withSignedServer(isFresh: true) { server in
            let network = try layer(
                server, SigningPolicy(.signature(tag: "app")), Self.deviceKey,
                clock: LayerClock(ContinuousClock(), wall: { date }))
            #expect(try await network.call(Mirror(bytes: [1, 2])).bytes == [1, 2])
            #expect(try server.handled.value == 1 && server.outcomes("nonceUnknown") == 1)
        }
    }

    // MARK: - Refusals that the server signs

    private static let serverKey = Curve25519.Signing.PrivateKey()

    private static func sign(_ rules: inout SignatureRules) {
        rules.responses = ResponseSigning(by: SigningKey.ed25519(serverKey), keyID: "server", tag: "reply")
    }

    private var verifyingPolicy: SigningPolicy {
        let record = KeyRecord(id: "server", key: .ed25519(Self.serverKey.publicKey), owner: "server")
        var policy = SigningPolicy(.signature(tag: "app"))
        policy.responses = ResponseSignatures(tag: "reply", keys: InMemoryKeyDirectory([record]))
        return policy
    }

    @Test func signedRefusalCorrectsASlowClocksPost() async throws {
        try await serve(off: .seconds(3_600), rules: Self.sign) { server in
            let network = try layer(server, verifyingPolicy, Self.deviceKey)
            #expect(try await network.call(Mirror(bytes: [1, 2])).bytes == [1, 2])
            #expect(try server.handled.value == 1 && server.outcomes("tooOld") == 1)
        }
    }

    /// A copy of the first request can be accepted when its time has come.
    @Test func postWithAFastClockFailsOnce() async throws {
        try await serve(off: .seconds(-3_600), rules: Self.sign) { server in
            let network = try layer(server, verifyingPolicy, Self.deviceKey)
            let error = await #expect(throws: NetworkError.self) { try await network.call(Mirror(bytes: [1, 2])) }
            #expect(error?.kind == .refused && server.handled.value == 0)
            #expect(try await network.call(Mirror(bytes: [1, 2])).bytes == [1, 2])
        }
    }

    /// Whoever can delay a copy has it refused as too old after the first one was executed.
    @Test func refusalOfADelayedCopyRepeatsNoPost() async throws {
        try await withSignedServer(rules: Self.sign) { server in
            let clock = ManualClock()
            let start = clock.now
            let layerClock = LayerClock(clock) {
                let elapsed = start.duration(to: clock.now) / .seconds(1)
                return Date(timeIntervalSince1970: Double(ServerTime.start.seconds) + elapsed)
            }
            let network = try layer(
                server, verifyingPolicy, Self.deviceKey, clock: layerClock, doubling: 1,
                between: {
                    clock.advance(by: .seconds(200))
                    server.time.set(ServerTime.start + .seconds(200))
                })
            let error = await #expect(throws: NetworkError.self) { try await network.call(Mirror(bytes: [1, 2])) }
            #expect(error?.kind == .refused)
            #expect(try server.handled.value == 1 && server.outcomes("tooOld") == 1)
        }
    }

    @Test(arguments: [25, 1])
    func newerPostAfterAStartIsSentAgain(seconds: Int) async throws {
        try await withSignedServer(isFresh: true, rules: Self.sign) { server in
            let now = ServerTime.start + .seconds(seconds)
            server.time.set(now)
            let clock = LayerClock(ManualClock()) { Date(timeIntervalSince1970: Double(now.seconds)) }
            let network = try layer(server, verifyingPolicy, Self.deviceKey, clock: clock)
            if seconds > 2 {
                #expect(try await network.call(Mirror(bytes: [1, 2])).bytes == [1, 2])
            } else {
                // It may be older than the server, and have been executed by the one before.
                let error = await #expect(throws: NetworkError.self) { try await network.call(Mirror(bytes: [1, 2])) }
                #expect(error?.kind == .refused && server.handled.value == 0)
            }
            #expect(try server.outcomes("nonceUnknown") == 1)
        }
    }

    @Test func unknownKeyIsRefused() async throws {
        try await serve { server in
            let key = RequestKey(id: "k-9", signer: SigningKey.p256(SignedServer.deviceKey))
            let network = try layer(server, SigningPolicy(.signature(tag: "app")), key)
            let error = await #expect(throws: NetworkError.self) { try await network.call(Echo(path: "echo/a")) }
            #expect(error?.kind == .refused)
            #expect(server.handled.value == 0)
        }
    }

    @Test(arguments: [false, true])
    func digestsOfThirdPartiesAreVerified(isSealed: Bool) async throws {
        let serverKey = Curve25519.KeyAgreement.PrivateKey()
        try await serve { rules in
            rules.digests = DigestRules()
            rules.digests?.serverKeys = ["server-1": serverKey]
            rules.digests?.requiresSealedKey = isSealed
        } _: { server in
            let way: SigningWay = isSealed ? .sealedKey(to: serverKey.publicKey, id: "server-1") : .saltedDigest
            let key = try RequestKey(id: "partner-3", secret: SignedServer.secret)
            let network = try layer(server, SigningPolicy(way), key)
            #expect(try await network.call(Echo(path: "echo/a%2Fb")).text?.hasPrefix("partner-3 partner ") == true)
            #expect(try await network.call(Mirror(bytes: [1, 2])).bytes == [1, 2])
            #expect(server.handled.value == 2)
        }
    }

    // MARK: - What a refusal explains in development

    @Test func refusalNamesTheLinesThatDiffer() async throws {
        try await serve(rules: { $0.explainsRefusals = true }) { server in
            let records = RecordCollector()
            let policy = SigningPolicy(.signature(tag: "app"))
            let network = try layer(server, policy, Self.deviceKey, sinks: [records]) {
                $0.head.path = $0.head.path?.replacing("p=", with: "p=1")
            }
            let error = await #expect(throws: NetworkError.self) { try await network.call(Echo(path: "echo/a")) }
            #expect(error?.kind == .refused)
            let difference = #""@query" was signed as "?p=&q=x%20y%2F~", and is "?p=1&q=x%20y%2F~" to the server."#
            #expect(
                error?.detail.hasSuffix("The signature bases differ: " + difference) == true, "\(error?.detail ?? "")")
            let record = try #require(try await records.records(count: 1).first)
            #expect("\(record)".contains(difference))
        }
    }

    @Test func refusalWithoutExplanationNamesNothing() async throws {
        try await serve { server in
            let network = try layer(server, SigningPolicy(.signature(tag: "app")), Self.deviceKey) {
                $0.head.path = $0.head.path?.replacing("p=", with: "p=1")
            }
            let error = await #expect(throws: NetworkError.self) { try await network.call(Echo(path: "echo/a")) }
            #expect(error?.detail == "The server refused the signature of the request: invalid.")
        }
    }

    @Test func comparisonShowsNoSecret() async throws {
        let field = try #require(HTTPField.Name("X-Vault-Token"))
        try await serve(rules: { $0.explainsRefusals = true }) { server in
            let components: [ComponentIdentifier] = [
                .method, .authority, .path, .query, .field(field), .queryParameter("access_token"),
            ]
            let network = try layer(
                server, SigningPolicy(.signature(tag: "app", components: components)), Self.deviceKey
            ) { request in
                request.head.path = request.head.path?.replacing("signed-secret", with: "other-secret")
                request.head.headerFields[field] = "other-secret"
            }
            network.configure(Shop.self) { settings in
                settings.commonHeaders = ["X-Vault-Token": "signed-secret"]
                settings.commonParameters = ["access_token": "signed-secret"]
            }
            let error = await #expect(throws: NetworkError.self) { try await network.call(Echo(path: "echo/a")) }
            let detail = try #require(error?.detail)
            for name in [#""@query""#, #""x-vault-token""#, #""@query-param";name="access_token""#] {
                #expect(detail.contains("\(name) was signed as"), "\(detail)")
            }
            #expect(!detail.contains("secret"), "\(detail)")
        }
    }

    @Test func earlyRefusalsAndRefusedBodiesAreExplained() async throws {
        let field = try #require(HTTPField.Name("X-Shop"))
        try await serve(rules: { $0.explainsRefusals = true }) { server in
            let policy = SigningPolicy(
                .signature(tag: "app", components: [.method, .authority, .path, .query, .field(field)]))
            let lost = try layer(server, policy, Self.deviceKey) { $0.head.headerFields[field] = nil }
            lost.configure(Shop.self) { $0.commonHeaders = ["X-Shop": "7"] }
            let components = await #expect(throws: NetworkError.self) { try await lost.call(Echo(path: "echo/a")) }
            #expect(
                components?.detail.contains(
                    #"components. The signature bases differ: "x-shop" was signed as "7", and is absent"#) == true)
            let tampering = try layer(server, SigningPolicy(.signature(tag: "app")), Self.deviceKey) {
                $0.body = .bytes([1, 3])
            }
            let body = await #expect(throws: NetworkError.self) { try await tampering.call(Mirror(bytes: [1, 2])) }
            #expect(body?.kind == .refused && body?.status == .badRequest)
            #expect(body?.detail.contains("body. The server computes the same signature base") == true)
        }
    }

    @Test func linesOfADigestAreCompared() async throws {
        try await serve { rules in
            rules.digests = DigestRules()
            rules.explainsRefusals = true
        } _: { server in
            let key = RequestKey(id: "partner-3", signer: try SigningKey.salted(SignedServer.secret))
            let network = try layer(server, SigningPolicy(.saltedDigest), key) {
                $0.head.path = $0.head.path?.replacing("p=", with: "p=1")
            }
            let error = await #expect(throws: NetworkError.self) { try await network.call(Echo(path: "echo/a")) }
            let detail = error?.detail ?? ""
            #expect(
                detail.contains(#"the query was signed as "?p=&q=x%20y%2F~", and is "?p=1&q=x%20y%2F~""#), "\(detail)")
            #expect(detail.contains("the sorted query was signed as"))
        }
    }
}
