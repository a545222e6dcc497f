import AsyncHTTPClient
import Crypto
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import MetricsTestKit
import NIOCore
import NIOSSL
import RunwayDemo
import RunwayServer
import RunwaySignatures
import Synchronization

/// A context of an app whose requests are signed.
typealias SignedContext = BasicSignedRequestContext

/// The server's clock, which tests set.
final class ServerTime: Sendable {
    static let start = UnixTime(seconds: 1_790_000_000)
    private let time = Mutex(start)
    var now: UnixTime { time.withLock { $0 } }
    func set(_ time: UnixTime) { self.time.withLock { $0 = time } }
}

/// A server of signed requests on a real socket, and a client that sends what a test makes.
struct SignedServer: Sendable {
    enum Wire: CaseIterable {
        case http1, http2
        /// HTTP/2 without TLS, for frames that a test writes itself.
        case plainHTTP2

        static let allCases: [Wire] = [.http1, .http2]
    }

    static let secret = SymmetricKey(data: Array("a secret of the tests".utf8))
    static let deviceKey = P256.Signing.PrivateKey()

    let url: String
    let client: HTTPClient
    let keys: InMemoryKeyDirectory
    let time: ServerTime
    let metrics: TestMetrics
    /// Requests that reached a handler.
    let handled: Count

    func outcomes(_ outcome: String) throws -> Int64 {
        try metrics.expectCounter("runway_signatures_total", [("outcome", outcome)]).totalValue
    }
}

/// An error that Hummingbird knows nothing of.
private struct HandlerFailure: Error {}

private func makeRouter(handled: Count) -> Router<SignedContext> {
    let router = Router(context: SignedContext.self)
    router.get("v1/public") { _, _ in "public" }
    return router
}

private func addRoutes(to router: Router<SignedContext>, handled: Count) {
    router.get("v1/echo/**") { request, context in
        handled.add()
        return "\(context.signer?.keyID ?? "") \(context.signer?.owner ?? "") \(request.uri.string)"
    }
    router.post("v1/mirror") { request, context in
        handled.add()
        return Response(status: .ok, body: ResponseBody(byteBuffer: try await request.body.collect(upTo: 1 << 22)))
    }
    router.post("v1/form") { request, context in
        handled.add()
        return "\(context.signer?.owner ?? "")"
    }
    router.get("v1/fields/**") { request, context in
        handled.add()
        return request.headers.map { "\($0.name.canonicalName): \($0.value)\n" }.joined()
    }
    router.get("v1/missing-route-error") { _, _ -> String in throw HTTPError(.notFound) }
    router.get("v1/failure") { _, _ -> String in throw HandlerFailure() }
    // Its length is not stated, and ten bytes.
    router.get("v1/parts/:type") { _, context in
        let type = context.parameters.get("type") ?? ""
        return Response(
            status: .ok, headers: [.contentType: "text/\(type)"],
            body: ResponseBody { writer in
                for _ in 0..<5 { try await writer.write(ByteBuffer(string: "ab")) }
                try await writer.finish(nil)
            })
    }
}

/// Serves on a free port of the loopback while `body` runs.
///
/// - Parameter isFresh: Whether the server has just started and remembers nonces as the middleware does by default.
func withSignedServer(
    _ wire: SignedServer.Wire = .http1, nonces: (any NonceStore)? = nil, isFresh: Bool = false,
    directory: (any KeyDirectory)? = nil,
    rules change: (inout SignatureRules) -> Void = { _ in },
    logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
    _ body: @escaping @Sendable (SignedServer) async throws -> Void
) async throws {
    let (time, metrics, handled) = (ServerTime(), TestMetrics(), Count())
    let keys = InMemoryKeyDirectory([
        KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna"),
        KeyRecord(id: "k-2", key: .p256(SignedServer.deviceKey.publicKey), owner: "ben"),
        KeyRecord(id: "partner-3", key: try .salted(SignedServer.secret), owner: "partner"),
    ])
    var rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
    change(&rules)
    let standing = NonceMemory(startedAt: ServerTime.start - .seconds(3_600), maximumNonces: 10_000)
    let router = makeRouter(handled: handled)
    router.add(
        middleware: SignatureMiddleware(
            rules, keys: directory ?? keys, nonces: nonces ?? (isFresh ? nil : standing), metrics: metrics,
            now: { time.now }))
    addRoutes(to: router, handled: handled)
    let certificate = try DemoCertificate()
    let connections = OpenConnections()
    let builder: HTTPServerBuilder =
        switch wire {
        case .http1: .http1(trackedBy: connections)
        case .http2:
            try .http2Upgrade(tlsConfiguration: certificate.serverConfiguration(), trackedBy: connections)
        case .plainHTTP2: .plaintextHTTP2(trackedBy: connections)
        }
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let application = Application(
        router: MergingRouter(router, base: "/v1"), server: builder,
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
            connections.add(channel)
            continuation.yield(channel.localAddress?.port ?? 0)
        }, logger: logger)
    var configuration = HTTPClient.Configuration.singletonConfiguration
    configuration.tlsConfiguration = .makeClientConfiguration()
    configuration.tlsConfiguration?.certificateVerification = .none
    let client = HTTPClient(configuration: configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            // However a server ends that is cancelled is no affair of the test.
            do { try await connections.run { try await application.run() } } catch { continuation.finish() }
        }
        defer { group.cancelAll() }
        guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
        let server = SignedServer(
            url: "\(wire == .http2 ? "https" : "http")://127.0.0.1:\(port)", client: client, keys: keys, time: time,
            metrics: metrics, handled: handled)
        do {
            try await body(server)
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}
