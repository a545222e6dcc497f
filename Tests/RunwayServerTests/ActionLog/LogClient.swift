import Foundation
import Hummingbird
import NIOCore
import Runway
import RunwayServer
import RunwayStorage
import RunwayTesting
import RunwayTransport

/// An app whose log is sent to a server over a socket.
struct LogClient {
    enum Logging: APIService {
        static let name = "logging"
        static let environments: [ServiceEnvironment: String] = [:]
        static let deadline = Duration.seconds(600)
    }

    let folder: URL
    let clock: ManualClock
    let network: NetworkLayer
    /// The path of the log below the base URL.
    let path: Runway.EndpointPath

    var file: URL { folder.appending(path: "log.sqlite") }

    func open() -> ActionLog {
        var options = ActionLogOptions()
        options.gap = .zero
        return ActionLog(at: file, sendingTo: Logging.self, at: path, over: network, options: options)
    }

    /// Runs a server with routes, and a client of it.
    static func serve(
        _ addRoutes: (RouterGroup<BasicRequestContext>) -> Void, _ use: (LogClient) async throws -> Void
    ) async throws {
        let router = Router()
        addRoutes(router.group("v1"))
        try await serve(router, path: "v1/log", use)
    }

    /// Runs a server with a router, and a client of its log.
    static func serve<Context: RequestContext>(
        _ router: Router<Context>, path: Runway.EndpointPath = "log", _ use: (LogClient) async throws -> Void
    ) async throws where Context.Source == ApplicationRequestContextSource {
        try await serving(router) { port in
            let clock = ManualClock()
            let network = NetworkLayer(
                transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
                clock: LayerClock(clock),
                limits: LayerLimits(admission: .none, retrying: .none))
            network.configure(Logging.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-route-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try await use(LogClient(folder: folder, clock: clock, network: network, path: path))
        }
    }
}

extension ActionLog {
    /// Flushes until nothing waits any more.
    func drain(_ clock: ManualClock) async throws {
        try await waitUntil("all acknowledged") {
            await flush()
            clock.advance(by: .seconds(3600))
            let state = await currentState
            return state.waitingCount == 0 && state.bufferedCount == 0
        }
    }
}
