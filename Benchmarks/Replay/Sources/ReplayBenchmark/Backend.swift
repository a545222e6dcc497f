import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import RunwayServer
import Synchronization

/// Counts the requests that come over the wire. One that came in an envelope is none.
final class WireCount: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.wrappingAdd(1, ordering: .relaxed) }
}

/// A listings backend over TLS and HTTP/2 that takes merged requests, too.
enum Backend {
    /// What the answer to a call begins with.
    static func opening(of call: Session.Call) -> String {
        switch call {
        case .list(let number): #"{"kind":"list","number":\#(number),"#
        case .details(let number): #"{"kind":"details","number":\#(number),"#
        }
    }

    /// Serves on a free port of the loopback until the task is cancelled; `onStart` is told the port.
    static func run(
        certificate: String, key: String, count: WireCount, onStart: @escaping @Sendable (Int) -> Void
    ) async throws {
        let router = Router(context: Context.self)
        router.add(middleware: Counting(count: count))
        router.get("v1/list/:number") { _, context in
            let number = try context.parameters.require("number", as: Int.self)
            return answer(opening(of: .list(number)), byteCount: 8 << 10)
        }
        router.get("v1/details/:number") { _, context in
            let number = try context.parameters.require("number", as: Int.self)
            return answer(opening(of: .details(number)), byteCount: 2 << 10)
        }
        let merging = MergingRouter(router, base: "/v1") { envelope, _ in
            var context = envelope
            context.isMerged = true
            return context
        }
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        var logger = Logger(label: "backend")
        logger.logLevel = .critical
        let application = Application(
            router: merging, server: try .http2Upgrade(tlsConfiguration: tls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { onStart($0.localAddress?.port ?? 0) }, logger: logger)
        try await application.run()
    }

    private static func answer(_ opening: String, byteCount: Int) -> Response {
        let text = opening + #""text":""# + String(repeating: "x", count: byteCount) + #""}"#
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        var isMerged = false
        init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
    }

    private struct Counting: RouterMiddleware {
        let count: WireCount

        func handle(
            _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
        ) async throws -> Response {
            if !context.isMerged { count.add() }
            return try await next(request, context)
        }
    }
}
