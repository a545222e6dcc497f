import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import Runway
import RunwayDemo
import RunwayServer
import RunwayTesting
import RunwayTransport
import Synchronization

/// The service of these tests; the layer says where it is.
enum Backend: APIService {
    static let name = "backend"
    static let environments: [ServiceEnvironment: String] = [:]
    static let merging: MergePolicy? = MergePolicy(wait: .seconds(1), settling: .zero, mergesOverHTTP2: true)
    static let deadline = Duration.seconds(600)
}

struct Fetch: Runway.Endpoint {
    static let service = Backend.self
    let path: Runway.EndpointPath
    init(_ path: Runway.EndpointPath) { self.path = path }
    func encode(to encoder: any Encoder) {}
}

struct Post: Runway.Endpoint {
    static let service = Backend.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    var path: Runway.EndpointPath { "mirror" }
    let content: Runway.RequestBody
    func encode(to encoder: any Encoder) {}
}

/// Counts what comes over the wire.
final class Count: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.wrappingAdd(1, ordering: .relaxed) }
}

struct WireContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var isMerged = false
    init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
}

/// A server that merges, and a layer that knows where it is.
struct RunningServer: Sendable {
    let network: NetworkLayer
    let records: RecordCollector
    let held: ScriptedGate
    let wireCount: Count
}

private struct Counting: RouterMiddleware {
    typealias Context = WireContext
    let count: Count
    func handle(
        _ request: Hummingbird.Request, context: WireContext,
        next: @concurrent (Hummingbird.Request, WireContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        if !context.isMerged { count.add() }
        return try await next(request, context)
    }
}

private func makeRouter(held: ScriptedGate, count: Count) -> Router<WireContext> {
    let router = Router(context: WireContext.self)
    router.add(middleware: Counting(count: count))
    router.get("v1/held") { _, _ in
        try await held.pass()
        return "held"
    }
    router.get("v1/echo/**") { request, _ in request.uri.path }
    router.get("v1/moved") { _, _ in Hummingbird.Response.redirect(to: "/v1/echo/target", type: .found) }
    router.get("v1/broken") { _, _ -> String in throw CancellationError() }
    router.post("v1/mirror") { request, _ in
        Hummingbird.Response(status: .ok, body: ResponseBody(byteBuffer: try await request.body.collect(upTo: 1 << 20)))
    }
    return router
}

/// Serves on a free port of the loopback while `body` runs.
///
/// The time of the layer stands still: requests wait for each other as long as they must.
func withServer(
    _ wire: BothHalvesTests.Wire, merges: Bool = true, _ body: @escaping @Sendable (RunningServer) async throws -> Void
) async throws {
    let (held, count, records) = (ScriptedGate(), Count(), RecordCollector())
    let certificate = try DemoCertificate()
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let connections = OpenConnections()
    let builder: HTTPServerBuilder =
        switch wire {
        case .plain: .http1(trackedBy: connections)
        case .tls, .http2:
            try .http2Upgrade(tlsConfiguration: certificate.serverConfiguration(), trackedBy: connections)
        }
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0))
    let announce: @Sendable (any Channel) async -> Void = { channel in
        connections.add(channel)
        continuation.yield(channel.localAddress?.port ?? 0)
    }
    let router = makeRouter(held: held, count: count)
    let run: @Sendable () async throws -> Void
    if merges {
        let merging = MergingRouter(router, base: "/v1") { envelope, _ in
            var context = envelope
            context.isMerged = true
            return context
        }
        let application = Application(
            router: merging, server: builder, configuration: configuration, onServerRunning: announce, logger: logger)
        run = { try await application.run() }
    } else {
        let application = Application(
            router: router, server: builder, configuration: configuration, onServerRunning: announce, logger: logger)
        run = { try await application.run() }
    }
    let trust = TransportConfiguration(
        trust: .certificates(pem: [certificate.authorityPEM]), usesHTTP2: wire == .http2, connectTimeout: .seconds(300))
    let transport = try NIOTransport(configuration: trust)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            // However a server ends that is cancelled is no affair of the test.
            do { try await connections.run(run) } catch { continuation.finish() }
        }
        defer { group.cancelAll() }
        guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
        let network = NetworkLayer(transport: transport, clock: LayerClock(ManualClock()), sinks: [records])
        network.configure(Backend.self) {
            $0.baseURLs = [.release: "\(wire == .plain ? "http" : "https")://127.0.0.1:\(port)/v1"]
        }
        do {
            try await body(RunningServer(network: network, records: records, held: held, wireCount: count))
        } catch {
            held.open()
            await transport.shutdown(waitingAtMost: .zero)
            throw error
        }
        held.open()
        await transport.shutdown(waitingAtMost: .zero)
    }
}
