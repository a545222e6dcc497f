import Foundation
package import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
package import Runway
package import RunwayDemo
package import RunwayServer
package import RunwayStreams
import RunwayTestServer
package import RunwayTesting
package import RunwayTransport
package import ServiceLifecycle
import Synchronization

/// The service of these tests; the layer says where it is.
package enum Newsroom: APIService {
    package static let name = "newsroom"
    package static let environments: [ServiceEnvironment: String] = [:]
    package static let deadline = Duration.seconds(600)
}

package struct News: EventStreamEndpoint {
    package static let service = Newsroom.self
    package var path: Runway.EndpointPath { "news/\("a b")" }
    package let topics: Set<String>?
    package init(_ topics: Set<String>? = nil) { self.topics = topics }
    package var parameters: Runway.Parameters { [:] }
    package func encode(to encoder: any Encoder) {}
}

/// A server of events on a port of the loopback, which can stop and come back on the same port: a server that was stopped has it reserved.
package final class StreamServer: Sendable {
    package let port: Int
    /// The socket that accepts connections.
    private let channel: any Channel
    private let group: ServiceGroup
    private let task: Task<Void, Never>
    private let connections: OpenConnections
    /// Reserves the port while no server listens on it.
    private let reservation: RefusingPort?

    private init(
        channel: any Channel, group: ServiceGroup, task: Task<Void, Never>, connections: OpenConnections,
        reservation: RefusingPort?
    ) {
        port = channel.localAddress?.port ?? 0
        (self.channel, self.group, self.task, self.connections) = (channel, group, task, connections)
        self.reservation = reservation
    }

    /// Serves a hub. The port is a free one, unless one is named. With a certificate it serves HTTP/2 over TLS, and otherwise HTTP/1.1. A hub
    /// that is a service shuts down before the server.
    package static func start(
        _ hub: EventHub, port: Int = 0, permission: EventPermission = EventPermission(),
        with certificate: DemoCertificate? = nil, isService: Bool = false
    ) async throws -> StreamServer {
        let router = Router()
        EventStreamRoute(hub) { _, _ in permission }.add(to: router, path: "news/a%20b")
        return try await start(router, port: port, with: certificate, before: isService ? [hub] : [])
    }

    /// - Parameter services: The services that shut down before the server. By default there are no such services.
    package static func start(
        _ router: Router<BasicRequestContext>, port: Int = 0, with certificate: DemoCertificate? = nil,
        before services: [any Service] = []
    ) async throws -> StreamServer {
        var reservation: RefusingPort?
        // A process that a test is just starting may have a copy of the socket of a killed server until it runs its program.
        try await waitUntil("the port") {
            do { reservation = try RefusingPort.reservation(port: port) } catch let error as POSIXError {
                if error.code == .EADDRINUSE { return false }
                throw error
            }
            return true
        }
        let address = BindAddress.hostname("127.0.0.1", port: reservation.map { Int($0.number) } ?? port)
        let (channels, continuation) = AsyncStream<any Channel>.makeStream()
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let connections = OpenConnections()
        let tls = try certificate?.serverConfiguration()
        let builder = HTTPServerBuilder { responder in
            guard let tls else {
                return CuttableChannel(base: HTTP1Channel(responder: responder), connections: connections)
            }
            return CuttableChannel(
                base: try HTTP2UpgradeChannel(tlsConfiguration: tls, responder: responder), connections: connections)
        }
        let application = Application(
            router: router, server: builder,
            configuration: ApplicationConfiguration(address: address, reuseAddress: true),
            onServerRunning: { continuation.yield($0) }, logger: logger)
        let all: [any Service] = [application] + services
        let group = ServiceGroup(configuration: .init(services: all, logger: logger))
        let task = Task {
            try? await group.run()
            continuation.finish()
        }
        guard let channel = await channels.first(where: { _ in true }) else { throw CancellationError() }
        return StreamServer(
            channel: channel, group: group, task: task, connections: connections, reservation: reservation)
    }

    /// Cuts all connections at once, as a process that is killed does, and listens no more.
    package func kill() async {
        // A connection that was accepted and is not served yet must not be lost with the socket or the task: NIO ends the process then.
        // So all are cut first, and those that still come as they come.
        let cut = Task { [connections] in
            try? await connections.run { try await Task.sleep(for: .seconds(3600)) }
        }
        cut.cancel()
        await cut.value
        try? await channel.close().get()
        task.cancel()
        await task.value
    }

    /// Shuts down gracefully, and returns when all streams have ended.
    package func shutDown() async {
        await group.triggerGracefulShutdown()
        await task.value
    }
}

/// A layer over real sockets that knows where the server is.
package func makeNetwork(
    port: Int, records: RecordCollector = RecordCollector(), clock: LayerClock = .system,
    status: any NetworkStatusSource = SettableNetworkStatus(), trusting certificate: DemoCertificate? = nil,
    prepare: (inout TransportConfiguration) -> Void = { _ in }
) throws -> (network: NetworkLayer, transport: NIOTransport) {
    var configuration = TransportConfiguration(
        trust: certificate.map { .certificates(pem: [$0.authorityPEM]) } ?? .system, connectTimeout: .seconds(300))
    configuration.maximumConnectionsPerOrigin = 200
    prepare(&configuration)
    let transport = try NIOTransport(configuration: configuration)
    let network = NetworkLayer(
        transport: transport, pipeline: .tested, clock: clock, sinks: [records], status: status)
    let scheme = certificate == nil ? "http" : "https"
    network.configure(Newsroom.self) { $0.baseURLs = [.release: "\(scheme)://127.0.0.1:\(port)"] }
    return (network, transport)
}

/// Options that reconnect fast enough for a test.
package var hasty: StreamOptions {
    var options = StreamOptions()
    options.backoff = .milliseconds(20)
    options.maximumBackoff = .milliseconds(200)
    return options
}
