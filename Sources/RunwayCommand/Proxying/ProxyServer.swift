import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Runway
import RunwayServer
import ServiceLifecycle

/// The HTTP/1.1 server to which a proxy's clients connect.
struct ProxyServer: Sendable {
    let session: ProxySession
    let address: ListeningAddress
    /// The host names that clients may use for the proxy, in addition to its address.
    let allowedHosts: [String]
    /// The tunnels of a forward proxy; `nil` for a reverse proxy.
    let tunnels: Tunnels?
    /// The maximum time for which a client may send nothing.
    let clientTimeout: TimeAmount

    /// The maximum number of client connections. Further clients wait until a connection ends.
    private static let maximumConnectionCount = 512

    /// Serves until its task is cancelled, and then closes every connection.
    ///
    /// - Parameter onServing: Called with the port when the server listens.
    /// - Throws: ``CommandFailure`` if the address can't be used.
    func run(onServing: @escaping @Sendable (_ port: Int) -> Void) async throws {
        let connections = OpenConnections()
        let forwarder = Forwarder(session: session)
        let builder = HTTPServerBuilder { responder in
            CuttableChannel(
                base: ProxyChannel(
                    responder: responder, origin: session.origin, tunnels: tunnels, address: address,
                    allowedHosts: allowedHosts,
                    clientTimeout: clientTimeout),
                connections: connections)
        }
        let configuration = ServerConfiguration(
            address: .hostname(address.host, port: address.port),
            availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnectionCount))
        let server = try builder.buildServer(
            configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "runway.proxy", factory: { _ in SwiftLogNoOpLogHandler() }),
            responder: { request, writer, channel in
                try await forwarder.respond(to: request, writer, channel)
            },
            onServerRunning: { channel in
                // `connections` includes the listening socket, so that a cancelled server waits until the socket is
                // closed.
                connections.add(channel)
                onServing(channel.localAddress?.port ?? address.port)
            })
        do {
            try await connections.run { try await server.run() }
        } catch  where !Task.isCancelled {
            await session.end()
            let reason =
                (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? error.redactedDescription
            throw CommandFailure("The proxy can't listen at \(address.authority(port: address.port)): \(reason).")
        } catch {}
        // This task is cancelled, so another one ends the session.
        await Task { await session.end() }.value
    }
}
