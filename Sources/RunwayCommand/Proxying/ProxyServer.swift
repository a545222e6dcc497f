import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Runway
import RunwayServer
import ServiceLifecycle

/// The server that a proxy's clients talk to, over HTTP/1.1.
struct ProxyServer: Sendable {
    let session: ProxySession
    let address: ListeningAddress
    /// The hosts besides its own under which the proxy may be called.
    let allowedHosts: [String]
    /// The tunnels of a forward proxy; `nil` for a proxy to one server.
    let tunnels: Tunnels?
    /// The longest silence of a client.
    let clientTimeout: TimeAmount

    /// The most connections of clients at a time; others wait until one ends.
    private static let maximumConnectionCount = 512

    /// Serves until its task is cancelled, then cuts every connection.
    ///
    /// - Parameter onServing: Called with the port once it is bound.
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
                // The listening socket is one of them: a server that is cancelled waits for it to be closed.
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
        // In a task of its own, since this task is cancelled.
        await Task { await session.end() }.value
    }
}
