import HTTPTypes
import Hummingbird
import Runway
import RunwayServer
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

private struct Order: Runway.Endpoint {
    static let service = Feed.self
    static let sendsIdempotencyKey = true
    var path: Runway.EndpointPath { "orders" }
    static let method = HTTPRequest.Method.post
    func encode(to encoder: any Encoder) {}
}

/// The keys that were received, by the tokens that came with them.
private final class ReceivedKeys: RouterMiddleware {
    private let received = Mutex<[(token: String?, key: String?)]>([])
    var all: [(token: String?, key: String?)] { received.withLock { $0 } }

    func handle(
        _ request: Hummingbird.Request, context: BasicRequestContext,
        next: @concurrent (Hummingbird.Request, BasicRequestContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        let key = HTTPField.Name("Idempotency-Key").flatMap { request.headers[$0] }
        received.withLock { $0.append((request.headers[.authorization], key)) }
        return try await next(request, context)
    }
}

/// A client whose access token has expired, and a server that finds no principal for it.
@Suite(.timeLimit(.minutes(5)))
@MainActor struct RenewedTokenTests {
    @Test func changeWithAnExpiredTokenIsSentAgain() async throws {
        let (received, effects) = (ReceivedKeys(), Count())
        let router = Router()
        router.add(middleware: received)
        router.add(
            middleware: IdempotencyMiddleware(store: MemoryIdempotencyStore()) { request, _ in
                request.headers[.authorization] == "Bearer t2" ? "ada" : nil
            })
        router.post("orders") { _, _ in
            effects.add()
            return Hummingbird.Response(status: .created)
        }
        try await serving(router) { port in
            let transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
            let network = NetworkLayer(transport: transport)
            network.configure(Feed.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
            try await network.signIn(AccessToken("t1", account: "ada"), to: Feed.self)
            _ = try await network.call(Order())
            #expect(received.all.map(\.token) == ["Bearer t1", "Bearer t2"])
            #expect(Set(received.all.map(\.key)).count == 1 && received.all[0].key != nil, "one change, one key")
            #expect(effects.value == 1)
            await transport.shutdown(waitingAtMost: .zero)
        }
    }
}
