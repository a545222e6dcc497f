import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Runway
import RunwayServer
import RunwayServerStorage
import RunwayStorage
import RunwayTestServer
import RunwayTransport
import Synchronization

/// Sends many records through a log and over the loopback to a server that stores them in SQLite, all in this process.
enum SendingBenchmark {
    static func run(in folder: URL) async throws {
        let count = ProcessInfo.processInfo.environment["RECORDS"].flatMap { Int($0) } ?? 1_000_000
        try await Server.run(folder.appending(path: "server")) { server in
            let time = try await send(count, folder.appending(path: "many"), to: server, port: server.port, "127.0.0.1")
            let requests = server.take()
            let received = try server.recordCount()
            precondition(received == count, "every record is at the server, once")
            print(
                "\(count) records to the server in \(time): \(Int(Double(count) / (time / .seconds(1)))) a second, "
                    + "\(requests) requests")
            // A relay counts the bytes, and would cost time.
            let network = try await BadNetwork(to: server.port, addresses: 1)
            for (size, count) in [(30, 30_000), (1, 3_000)] {
                let before = network.paths[0].sentByteCount
                _ = try await send(
                    count, folder.appending(path: "counted-\(size)"), to: server, port: network.port,
                    network.paths[0].address, batchSize: size)
                let byteCount = network.paths[0].sentByteCount - before
                print(
                    "in batches of \(size): \(server.take()) requests for \(count) records, "
                        + String(format: "%.1f bytes on the wire a record", Double(byteCount) / Double(count)))
            }
            await network.shutDown()
        }
    }

    private static func send(
        _ count: Int, _ folder: URL, to server: Server, port: Int, _ host: String, batchSize: Int = 30
    ) async throws -> Duration {
        let transport = try NIOTransport()
        let network = NetworkLayer(transport: transport)
        network.configure(BenchmarkLog.Logging.self) { $0.baseURLs = [.release: "http://\(host):\(port)"] }
        var options = ActionLogOptions()
        options.batchSize = batchSize
        // Without it a log sends 1,500 records a second at most.
        options.gap = .zero
        let log = ActionLog(
            at: folder.appending(path: "log.sqlite"), sendingTo: BenchmarkLog.Logging.self, at: "log", over: network,
            options: options)
        let start = ContinuousClock.now
        for first in stride(from: 0, to: count, by: 1000) {
            var last: ActionReceipt?
            for number in first..<min(count, first + 1000) { last = BenchmarkLog.record(number, in: log) }
            try await last?.committed()
            // No more waits than a log holds by default.
            while first.isMultiple(of: 10_000), await log.currentState.waitingCount > 50_000 {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        while true {
            await log.flush()
            let state = await log.currentState
            precondition(
                state.lost.isEmpty && state.setAsideCount == 0 && state.problem == nil, "nothing is lost")
            if state.waitingCount == 0, state.bufferedCount == 0 { break }
        }
        let time = ContinuousClock.now - start
        await log.close()
        await transport.shutdown()
        return time
    }
}

/// A server of action logs that counts its requests.
private final class Server: Sendable {
    let port: Int
    private let file: URL
    private let count: RequestCount

    private init(port: Int, file: URL, count: RequestCount) {
        (self.port, self.file, self.count) = (port, file, count)
    }

    static func run(_ folder: URL, _ body: (Server) async throws -> Void) async throws {
        let file = folder.appending(path: "actions.sqlite")
        let sink = try SQLiteActionLogSink(at: file)
        let count = RequestCount()
        let router = Router()
        router.add(middleware: count)
        ActionLogRoute(to: sink).add(to: router)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "server", factory: { _ in SwiftLogNoOpLogHandler() }))
        let serving = Task { try await application.run() }
        defer { serving.cancel() }
        guard let port = await ports.first(where: { _ in true }) else { return try await serving.value }
        try await body(Server(port: port, file: file, count: count))
        try await sink.close()
    }

    /// The number of requests since the last call.
    func take() -> Int { count.value.exchange(0, ordering: .relaxed) }

    func recordCount() throws -> Int { try ActionLogFile(at: file).counts().reduce(0) { $0 + $1.count } }
}

private final class RequestCount: RouterMiddleware {
    let value = Atomic(0)

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        value.wrappingAdd(1, ordering: .relaxed)
        return try await next(request, context)
    }
}
