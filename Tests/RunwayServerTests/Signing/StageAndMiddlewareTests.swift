import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwayServer
import RunwaySignatures
import RunwaySigning
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

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        var request = request
        request.head.scheme = "http"
        request.head.authority = authority
        return try await wire.send(request, in: flight)
    }
}

/// The stage that signs requests, against the middleware that verifies them.
@Suite(.timeLimit(.minutes(5)))
struct StageAndMiddlewareTests {
    private static let deviceKey = RequestKey(id: "k-2", signer: SigningKey.p256(SignedServer.deviceKey))

    private func layer(_ server: SignedServer, _ policy: SigningPolicy, _ key: RequestKey) throws -> NetworkLayer {
        let wire = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
        var pipeline = RequestPipeline()
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: OneKey(key: key)), before: .signing)
        let authority = String(server.url.dropFirst("http://".count))
        return NetworkLayer(transport: TerminatingProxy(wire: wire, authority: authority), pipeline: pipeline)
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

    @Test func clientWithAWrongClockIsCorrectedOnce() async throws {
        try await serve(off: .seconds(3_600)) { server in
            let network = try layer(server, SigningPolicy(.signature(tag: "app")), Self.deviceKey)
            #expect(try await network.call(Echo(path: "echo/a")).text?.hasPrefix("k-2 ben ") == true)
            _ = try await network.call(Echo(path: "echo/b"))
            #expect(try server.outcomes("tooOld") == 1)
            #expect(server.handled.value == 2)
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
            let caller = SealedKey.Caller(id: "partner-3", secret: SignedServer.secret)
            let way: SigningWay = isSealed ? .sealedKey(to: serverKey.publicKey, id: "server-1") : .saltedDigest
            let network = try layer(server, SigningPolicy(way), RequestKey(caller))
            #expect(try await network.call(Echo(path: "echo/a%2Fb")).text?.hasPrefix("partner-3 partner ") == true)
            #expect(try await network.call(Mirror(bytes: [1, 2])).bytes == [1, 2])
            #expect(server.handled.value == 2)
        }
    }
}
