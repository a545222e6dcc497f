import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import RunwayServer
import Synchronization

extension LogTour {
    /// Serves the route of action logs while `body` runs with the base URL.
    static func withLogServer<Value: Sendable>(
        _ sink: LogTourSink, _ body: @Sendable (_ url: String) async throws -> Value
    ) async throws -> Value {
        let router = Router()
        ActionLogRoute(to: sink).add(to: router)
        let connections = OpenConnections()
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router,
            server: HTTPServerBuilder { CuttableChannel(base: HTTP1Channel(responder: $0), connections: connections) },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                connections.add(channel)
                port.yield(channel.localAddress?.port ?? 0)
            },
            logger: Logger(label: "runway.demo-log", factory: { _ in SwiftLogNoOpLogHandler() }))
        let serving = Task {
            // However a server ends that is cancelled does not matter; one that can't start has no port.
            do { try await connections.run { try await application.run() } } catch {}
            port.finish()
        }
        defer { serving.cancel() }
        guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
        return try await body("http://127.0.0.1:\(port)")
    }
}

/// A number that is counted up.
final class ReceivedCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }
}

/// A process of the demo, which is killed with its owner.
final class DemoProcess {
    private let process = Process()
    private let lines: AsyncStream<Void>
    private let endings: AsyncStream<Int32>

    init(_ program: URL, _ arguments: [String]) throws {
        let (lines, line) = AsyncStream<Void>.makeStream()
        let (endings, ending) = AsyncStream<Int32>.makeStream()
        (self.lines, self.endings) = (lines, endings)
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            ending.finish()
        }
        try process.run()
        let reader = output.fileHandleForReading
        // A thread of its own: a read waits for as long as the process likes.
        Thread.detachNewThread {
            if !reader.availableData.isEmpty { line.yield() }
            line.finish()
        }
    }

    deinit { kill() }

    /// Waits until it has written something.
    ///
    /// - Throws: `CancellationError` if it ended without.
    func firstLine() async throws {
        guard await lines.first(where: { _ in true }) != nil else { throw CancellationError() }
    }

    /// Ends it at once, as `kill -9` does.
    func kill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// Waits for its end; returns the exit code, or the negated signal.
    @discardableResult
    func end() async -> Int32 { await endings.first { _ in true } ?? -1 }
}
