import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import RunwayServer
import RunwayTestServer
import Synchronization

/// What came to the backend since it was last asked to forget it, and what is published.
final class ReplayLedger: Sendable {
    struct State {
        /// The requests that came over the wire, an envelope of several being one.
        var requestCount = 0
        /// The requests that came in envelopes.
        var itemCount = 0
        var revisions: [Resource: Int] = [:]
        /// The ids of the events that came.
        var events: Set<UUID> = []
    }

    /// Guards all of it.
    let state = Mutex(State())
}

/// Stores the events of a session with what else came. The log of a session that is over sends nothing any more.
private struct LedgerSink: ActionLogSink {
    let ledger: ReplayLedger
    private let base = MemoryActionLogSink()

    init(_ ledger: ReplayLedger) { self.ledger = ledger }

    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage {
        let storage = try await base.store(batch)
        if case .stored = storage { ledger.state.withLock { $0.events.formUnion(batch.records.map(\.id)) } }
        return storage
    }
}

/// The backend of the session: homes over TLS and HTTP/2, with a route for merged requests, and a path of some length that leads to it.
enum ReplayBackend {
    typealias Router = Hummingbird.Router<Context>

    struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        var isMerged = false
        init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
    }

    /// Serves until the process is killed; prints its own port, and the port of the path at 127.0.0.2.
    static func serve(certificate: String, key: String, roundTrip: Duration) async throws {
        let merging = MergingRouter(makeRouter(), base: "/v1") { envelope, _ in
            var context = envelope
            context.isMerged = true
            return context
        }
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: merging, server: try .http2Upgrade(tlsConfiguration: tls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "backend", factory: { _ in SwiftLogNoOpLogHandler() }))
        async let serving: Void = application.run()
        guard let port = await ports.first(where: { _ in true }) else { return try await serving }
        let network = try await BadNetwork(to: port, addresses: 1)
        try await network.paths[0].set(.passing(PathConditions(roundTrip: roundTrip)))
        print(port, network.port)
        fflush(nil)
        try await serving
    }

    private static func makeRouter() -> Router {
        let ledger = ReplayLedger()
        let router = Router(context: Context.self)
        router.add(middleware: Counting(ledger: ledger))
        ActionLogRoute(to: LedgerSink(ledger)).add(to: router.group("v1"))
        router.get("v1/hello") { _, _ in "hello" }
        router.get("v1/cities/:city/homes") { request, context in
            respond(to: try list(request, context), from: ledger)
        }
        router.get("v1/cities/:city/homes/:home") { _, context in
            let city = try context.parameters.require("city", as: Int.self)
            return respond(
                to: .details(city: city, home: try context.parameters.require("home", as: Int.self)), from: ledger)
        }
        router.get("v1/cities/:city/map") { _, context in
            respond(to: .map(city: try context.parameters.require("city", as: Int.self)), from: ledger)
        }
        router.post("control/reset") { _, _ in
            ledger.state.withLock { $0 = ReplayLedger.State() }
            return HTTPResponse.Status.ok
        }
        router.post("control/cities/:city/homes") { request, context in
            let list = try list(request, context)
            ledger.state.withLock { $0.revisions[list, default: 0] += 1 }
            return HTTPResponse.Status.ok
        }
        router.get("control/counts") { _, _ in
            ledger.state.withLock { "\($0.requestCount) \($0.itemCount) \($0.events.count)" }
        }
        return router
    }

    private static func list(_ request: Request, _ context: Context) throws -> Resource {
        let query = request.uri.queryParameters
        return .list(
            city: try context.parameters.require("city", as: Int.self),
            filter: try query.require("filter", as: Int.self), page: try query.require("page", as: Int.self))
    }

    private static func respond(to resource: Resource, from ledger: ReplayLedger) -> Response {
        let revision = ledger.state.withLock { $0.revisions[resource, default: 0] }
        // A client that stores responses by the server's directives may store these, too.
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "private, max-age=180"],
            body: ResponseBody(
                byteBuffer: ByteBuffer(bytes: ExpectedResponse(resource: resource, revision: revision).body)))
    }

    private struct Counting: RouterMiddleware {
        let ledger: ReplayLedger

        func handle(
            _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
        ) async throws -> Response {
            if !request.uri.path.hasPrefix("/control/") {
                ledger.state.withLock { state in
                    if context.isMerged { state.itemCount += 1 } else { state.requestCount += 1 }
                }
            }
            return try await next(request, context)
        }
    }
}
