import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RunwayServer
import RunwayTesting
import Synchronization

/// A server whose effects are counted, on a real socket, and a client of it.
struct IdempotentServer: Sendable {
    let url: String
    let client: HTTPClient
    /// How often an order was executed.
    let effects: Count
    /// Holds the executions of `/held`.
    let gate: ScriptedGate
    /// The clock of the middleware.
    let clock: Time

    /// A date that tests set.
    final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(by seconds: Double) { date.withLock { $0 += seconds } }
    }

    /// Sends a request.
    func send(
        _ path: String = "/orders", key: String? = nil, by principal: String? = "ada", body: String = "{}",
        method: String = "POST"
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: url + path)
        request.method = .RAW(value: method)
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        if let principal { request.headers.add(name: "Principal", value: principal) }
        request.headers.add(name: "Content-Type", value: "application/json")
        if method != "GET" { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await client.execute(request, timeout: .seconds(60))
        var fields: [String: String] = [:]
        for field in response.headers { fields[field.name.lowercased()] = field.value }
        return Reply(
            status: Int(response.status.code), fields: fields,
            body: String(buffer: try await response.body.collect(upTo: 1 << 22)))
    }

    /// A response.
    struct Reply: Sendable, Equatable {
        var status: Int
        var fields: [String: String]
        var body: String

        var isReplayed: Bool { fields["idempotency-replayed"] == "true" }
        /// The reason of a problem.
        var reason: Substring? { body.firstMatch(of: /urn:runway:idempotency:(\w+)/)?.1 }
    }

    /// Serves on a free port of the loopback while `body` runs.
    static func run(
        _ rules: IdempotencyRules = IdempotencyRules(), store: any IdempotencyStore = MemoryIdempotencyStore(),
        _ body: @escaping @Sendable (IdempotentServer) async throws -> Void
    ) async throws {
        let (effects, gate, clock) = (Count(), ScriptedGate(), Time())
        let router = Router()
        router.add(
            middleware: IdempotencyMiddleware(rules, store: store, now: { clock.now }) { request, _ in
                HTTPField.Name("Principal").flatMap { request.headers[$0]?.replacing("%00", with: "\u{0}") }
            })
        addRoutes(to: router, effects, gate)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let connections = OpenConnections()
        let application = Application(
            router: router, server: .http1(trackedBy: connections),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                connections.add(channel)
                port.yield(channel.localAddress?.port ?? 0)
            },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let client = HTTPClient()
        let serving = Task {
            // However a server ends that is cancelled is no affair of the test.
            do { try await connections.run { try await application.run() } } catch { port.finish() }
        }
        defer { serving.cancel() }
        let result: Result<Void, any Error>
        do {
            guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
            try await body(
                IdempotentServer(
                    url: "http://127.0.0.1:\(port)", client: client, effects: effects, gate: gate, clock: clock))
            result = .success(())
        } catch {
            result = .failure(error)
        }
        gate.open()
        try await client.shutdown()
        try result.get()
    }

    private static func addRoutes(
        to router: Router<BasicRequestContext>, _ effects: Count, _ gate: ScriptedGate
    ) {
        router.on("orders", method: .post) { request, _ in
            effects.add()
            let body = String(buffer: try await request.body.collect(upTo: 1 << 20))
            return Response(
                status: .created,
                headers: [.contentType: "application/json", .location: "/orders/\(effects.value)", .server: "test"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "order \(effects.value): \(body)")))
        }
        router.get("orders") { _, _ in
            effects.add()
            return "orders"
        }
        for method in [HTTPRequest.Method.put, .delete, .patch] {
            router.on("change", method: method) { _, _ in
                effects.add()
                return "changed \(effects.value)"
            }
        }
        router.post("held") { _, _ in
            try await gate.pass()
            effects.add()
            return "held"
        }
        router.post("invalid") { _, _ -> String in
            effects.add()
            throw HTTPError(.badRequest)
        }
        router.post("broken") { _, _ -> String in
            effects.add()
            throw CocoaError(.fileNoSuchFile)
        }
        router.post("large") { _, _ in
            effects.add()
            return String(repeating: "x", count: 300 << 10)
        }
    }
}
