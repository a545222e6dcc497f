import Foundation
import Hummingbird
import Logging
import NIOCore
import Runway
import RunwayServer
import RunwayServerStorage
import RunwaySyncCore
import RunwayTesting
import RunwayTransport
import Synchronization

/// The service of the tests.
enum Backend: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "http://127.0.0.1:1"]
}

/// A server of synchronised spaces on a free port of the loopback, which fails on demand.
struct SyncServer: Sendable {
    /// A failure of the requests of one path.
    enum Failure: Sendable {
        /// The request arrives, and its response is lost.
        case losesResponse
        /// The request is refused with this status.
        case refuses(Int)
    }

    /// The failures of the next requests, in their order, and the targets of the requests that came.
    final class Faults: Sendable {
        private struct State {
            var failures: [(path: String, failure: Failure)] = []
            var requests: [String] = []
        }

        /// Guards the failures and the requests.
        private let state = Mutex(State())
        /// The number of pushes that came.
        let pushes = AwaitedValue(0)

        func add(_ failure: Failure, to path: String, count: Int = 1) {
            state.withLock { $0.failures += Array(repeating: (path, failure), count: count) }
        }

        /// Ends all failures.
        func end() { state.withLock { $0.failures = [] } }

        var requests: [String] { state.withLock { $0.requests } }

        fileprivate func take(_ path: String, target: String) -> Failure? {
            if path.hasSuffix("push") { pushes.update { $0 += 1 } }
            return state.withLock { state in
                state.requests.append(target)
                return state.failures.firstIndex { path.hasSuffix($0.path) }.map {
                    state.failures.remove(at: $0).failure
                }
            }
        }
    }

    private struct Failing: RouterMiddleware {
        typealias Context = BasicRequestContext
        let faults: Faults

        func handle(
            _ request: Hummingbird.Request, context: Context,
            next: @concurrent (Hummingbird.Request, Context) async throws -> Hummingbird.Response
        ) async throws -> Hummingbird.Response {
            switch faults.take(request.uri.path, target: request.uri.string) {
            case .refuses(let status): return Hummingbird.Response(status: .init(code: status))
            case .losesResponse:
                _ = try await next(request, context)
                return Hummingbird.Response(status: .badGateway)
            case nil: return try await next(request, context)
            }
        }
    }

    let port: Int
    let faults: Faults

    /// A layer of a device of this server.
    ///
    /// - Parameters:
    ///   - clock: The clock of its waits. The default is the system's.
    ///   - sinks: Receive the records of its calls. The default is empty.
    func makeNetwork(clock: ManualClock? = nil, sinks: [any EventSink] = []) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            clock: clock.map { LayerClock($0) } ?? .system, sinks: sinks)
        network.configure(Backend.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
        return network
    }

    /// The database of the spaces.
    enum Place: CaseIterable { case memory, sqlite }

    /// Serves spaces in a database while `body` runs.
    static func run(
        in place: Place, mayRead: @escaping @Sendable (UUID) -> Bool = { _ in true },
        _ body: (SyncServer) async throws -> Void
    ) async throws {
        if place == .memory { return try await run(mayRead: mayRead, body) }
        let folder = try TemporaryFolder()
        let store = try SyncStore.sqlite(at: folder.url.appending(path: "spaces.sqlite"))
        try await run(store: store, mayRead: mayRead, body)
        try await store.close()
    }

    /// Serves while `body` runs.
    ///
    /// - Parameters:
    ///   - store: The spaces. The default is in memory.
    ///   - mayRead: Whether the account may read a space. The default is `true`.
    static func run(
        store: SyncStore = .memory(), port: Int = 0, conflicts: [String: ConflictPolicy] = [:],
        mayRead: @escaping @Sendable (UUID) -> Bool = { _ in true }, _ body: (SyncServer) async throws -> Void
    ) async throws {
        let (faults, hub) = (Faults(), try await EventHub(name: "sync"))
        let router = Router()
        router.add(middleware: Failing(faults: faults))
        let service = SyncService(store: store, hub: hub, conflicts: conflicts) { _, space, _ in mayRead(space) }
        SyncRouter(service) { _, _ in "ada" }.add(to: router)
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router)
        let (ports, announced) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { announced.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // However a server ends that is cancelled is no affair of the test.
                do { try await application.run() } catch { announced.finish() }
            }
            defer { group.cancelAll() }
            guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
            try await body(SyncServer(port: port, faults: faults))
        }
    }
}
