import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import Runway
import RunwayDemo
import RunwayServer
import RunwayStreams
import RunwayTesting
import RunwayTransport
import Synchronization

/// How client and server of these tests are connected.
enum StreamWire: CaseIterable {
    case http1, http2, urlSession
}

/// The service of these tests; the layer says where it is.
enum Feed: APIService {
    static let name = "feed"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(600)
    static let credentials: (any Credentials)? = FeedCredentials()
}

/// Renews the token `t1` as `t2`, and so on.
struct FeedCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        AccessToken("t\((Int(token.value.dropFirst()) ?? 0) + 1)", account: token.account)
    }
}

struct FeedEvents: EventStreamEndpoint {
    static let service = Feed.self
    var path: Runway.EndpointPath { "feed" }
    var topics: Set<String>?
    var parameters: Runway.Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}

struct FeedClient: Runway.Endpoint {
    static let service = Feed.self
    var path: Runway.EndpointPath { "client" }
    func encode(to encoder: any Encoder) {}
}

struct FeedContext: SignedRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?
    var signer: VerifiedSigner?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// What the server of a test allows, and has seen.
final class FeedGate: Sendable {
    private struct State {
        var token: String?
        var permission = EventPermission()
        var refusals = 0
        var openers: [String] = []
    }

    /// Guards what is allowed and counted.
    private let state = Mutex(State())

    /// How many requests had another token.
    var refusals: Int { state.withLock { $0.refusals } }
    /// Where streams were opened from.
    var openers: [String] { state.withLock { $0.openers } }
    var permission: EventPermission {
        get { state.withLock { $0.permission } }
        set { state.withLock { $0.permission = newValue } }
    }

    /// Accepts no other token from now on.
    func accept(_ token: String) { state.withLock { $0.token = token } }

    func permission(for fields: HTTPFields) throws -> EventPermission {
        try state.withLock { state in
            if let token = state.token, fields[.authorization] != "Bearer \(token)" {
                state.refusals += 1
                throw HTTPError(.unauthorized)
            }
            return state.permission
        }
    }

    func note(opener: String) { state.withLock { $0.openers.append(opener) } }
}

/// A server of events and a layer that knows where it is.
struct StreamPeer: Sendable {
    let hub: EventHub
    let gate: FeedGate
    let network: NetworkLayer
    let port: Int

    func publish(_ numbers: Range<Int>, topic: String = "all") async throws {
        for number in numbers { try await hub.publish(PublishedEvent(topic: topic, data: "\(number)")) }
    }
}

/// Serves on a free port of the loopback while `body` runs, to a client with the token `t1`.
///
/// - Parameters:
///   - wire: How client and server are connected.
///   - clock: The clock of the hub. The default is the system's.
///   - prepare: Adds middleware to the router, before the routes.
///   - layer: Creates the layer over a transport to a port.
func withStreamPeer(
    _ wire: StreamWire, clock: any Clock<Duration> = ContinuousClock(),
    prepare: (Router<FeedContext>) -> Void = { _ in },
    layer: @escaping @Sendable (any Transport, Int) -> NetworkLayer = { transport, _ in
        NetworkLayer(transport: transport)
    },
    _ body: @escaping @Sendable (StreamPeer) async throws -> Void
) async throws {
    var options = EventHubOptions()
    options.drainingTime = .zero
    let (hub, gate) = (try await EventHub(name: "feed", options: options, clock: clock), FeedGate())
    let router = Router(context: FeedContext.self)
    prepare(router)
    EventStreamRoute(
        hub,
        source: { _, context in
            gate.note(opener: "\(context.remoteAddress?.port ?? 0)")
            return "all"
        }
    ) { request, _ in try gate.permission(for: request.headers) }.add(to: router, path: "feed")
    router.get("client") { _, context in "\(context.remoteAddress?.port ?? 0)" }
    let certificate = try DemoCertificate()
    let connections = OpenConnections()
    let builder: HTTPServerBuilder =
        wire == .http2
        ? try .http2Upgrade(tlsConfiguration: certificate.serverConfiguration(), trackedBy: connections)
        : .http1(trackedBy: connections)
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let application = Application(
        router: router, server: builder,
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
            connections.add(channel)
            continuation.yield(channel.localAddress?.port ?? 0)
        },
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let nio = try NIOTransport(
        configuration: TransportConfiguration(
            trust: .certificates(pem: [certificate.authorityPEM]), connectTimeout: .seconds(300)))
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            // However a server ends that is cancelled is no affair of the test.
            do { try await connections.run { try await application.run() } } catch { continuation.finish() }
        }
        defer { group.cancelAll() }
        guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
        let network = layer(wire == .urlSession ? URLSessionTransport() : nio, port)
        network.configure(Feed.self) {
            $0.baseURLs = [.release: "\(wire == .http2 ? "https" : "http")://127.0.0.1:\(port)"]
        }
        try await network.signIn(AccessToken("t1", account: "anna"), to: Feed.self)
        do {
            try await body(StreamPeer(hub: hub, gate: gate, network: network, port: port))
        } catch {
            await nio.shutdown(waitingAtMost: .zero)
            throw error
        }
        await nio.shutdown(waitingAtMost: .zero)
    }
}

/// What one client received, in order.
final class StreamFollower: Sendable {
    private final class Log: Sendable {
        private let received = Mutex<(texts: [String], continuities: [StreamContinuity])>(([], []))
        var texts: [String] { received.withLock { $0.texts } }
        var continuities: [StreamContinuity] { received.withLock { $0.continuities } }

        func take(_ element: StreamElement) {
            switch element {
            case .event(let event): received.withLock { $0.texts.append(event.text) }
            case .continuity(let continuity): received.withLock { $0.continuities.append(continuity) }
            default: break
            }
        }
    }

    private let log = Log()
    private let sequence: EventSequence
    private let task: Task<NetworkError?, Never>

    init(_ sequence: EventSequence) {
        self.sequence = sequence
        task = Task { [log] in
            do throws(NetworkError) {
                for try await element in sequence { log.take(element) }
                return nil
            } catch {
                return error
            }
        }
    }

    deinit { task.cancel() }

    var texts: [String] { log.texts }
    var continuities: [StreamContinuity] { log.continuities }

    func waitUntilCaughtUp() async throws {
        try await waitUntil("the end of the replay") { sequence.isCaughtUp }
    }

    func wait(forEvents count: Int) async throws {
        try await waitUntil("\(count) events") { texts.count >= count }
    }

    func wait(forConnections count: Int) async throws {
        try await waitUntil("\(count) connections") { continuities.count >= count }
    }

    func stop() async -> NetworkError? {
        sequence.stop()
        return await task.value
    }
}
