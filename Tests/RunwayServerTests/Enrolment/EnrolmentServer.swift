import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import RunwayServer
import RunwaySignatures

/// A server on a real socket on which devices enrol keys, and whose other routes require signatures by them.
struct EnrolmentServer: Sendable {
    let port: Int
    let keys: InMemoryKeyDirectory
    let time: ServerTime
}

/// Serves on a free port of the loopback while `body` runs.
func withEnrolmentServer(
    directory: (any EnrolledKeyDirectory)? = nil, rules change: (inout EnrolmentRules) -> Void = { _ in },
    _ body: (EnrolmentServer) async throws -> Void
) async throws {
    let (keys, time) = (InMemoryKeyDirectory(), ServerTime())
    let directory = directory ?? keys
    time.set(UnixTime(seconds: Int64(Date.now.timeIntervalSince1970)))
    var rules = EnrolmentRules(origin: PublicOrigin("api.example.com"))
    change(&rules)
    let router = Router(context: SignedContext.self)
    let claims = NonceMemory(startedAt: UnixTime(seconds: 0), maximumNonces: 1_000)
    EnrolmentRoutes(rules, keys: directory, claims: claims, now: { time.now }) { request, _ in
        HTTPField.Name("X-Account").flatMap { request.headers[$0] }
    }.add(to: router.group("v1"))
    let signatures = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
    let nonces = NonceMemory(startedAt: UnixTime(seconds: 0), maximumNonces: 1_000)
    router.add(middleware: SignatureMiddleware(signatures, keys: directory, nonces: nonces, now: { time.now }))
    router.get("v1/echo") { _, context in
        let record = try await directory.record(forKeyID: context.signer?.keyID ?? "")
        return "\(record?.id ?? "") \(context.signer?.owner ?? "") \(record?.device ?? "")"
    }
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let connections = OpenConnections()
    let application = Application(
        router: router, server: .http1(trackedBy: connections),
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
            connections.add(channel)
            continuation.yield(channel.localAddress?.port ?? 0)
        },
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            // However a server ends that is cancelled is no affair of the test.
            do { try await connections.run { try await application.run() } } catch { continuation.finish() }
        }
        defer { group.cancelAll() }
        guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
        try await body(EnrolmentServer(port: port, keys: keys, time: time))
    }
}
