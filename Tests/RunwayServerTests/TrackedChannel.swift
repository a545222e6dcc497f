import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import RunwayServer

/// A connection of a test's server that is closed before the task of its server is cancelled.
///
/// Tests end their servers by cancellation. A connection that was accepted a moment before, or a stream on one, would be dropped while it
/// is open: to SwiftNIO that is a programming error, which ends the process with all its tests.
private struct TrackedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let connections: OpenConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard connections.add(channel) else {
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension HTTPServerBuilder {
    /// Serves HTTP/1.1 without TLS, over connections that are closed when `connections` are.
    static func http1(trackedBy connections: OpenConnections) -> HTTPServerBuilder {
        HTTPServerBuilder { TrackedChannel(base: HTTP1Channel(responder: $0), connections: connections) }
    }

    /// Serves HTTP/2 and HTTP/1.1 over TLS, over connections that are closed when `connections` are.
    static func http2Upgrade(
        tlsConfiguration: TLSConfiguration, trackedBy connections: OpenConnections
    ) -> HTTPServerBuilder {
        HTTPServerBuilder {
            TrackedChannel(
                base: try HTTP2UpgradeChannel(tlsConfiguration: tlsConfiguration, responder: $0),
                connections: connections)
        }
    }

    /// Serves HTTP/2 without TLS, over connections that are closed when `connections` are.
    static func plaintextHTTP2(trackedBy connections: OpenConnections) -> HTTPServerBuilder {
        HTTPServerBuilder { TrackedChannel(base: HTTP2Channel(responder: $0), connections: connections) }
    }
}

/// Serves a router over HTTP/1.1 on a free port of the loopback while `body` runs with the port.
///
/// How a server ends that is cancelled is no affair of the test.
func serving<Context: RequestContext, Value>(
    _ router: Router<Context>, isolation: isolated (any Actor)? = #isolation,
    by server: (OpenConnections) -> HTTPServerBuilder = { .http1(trackedBy: $0) },
    _ body: (Int) async throws -> Value
) async throws -> Value where Context.Source == ApplicationRequestContextSource {
    let (ports, port) = AsyncStream<Int>.makeStream()
    let connections = OpenConnections()
    let application = Application(
        router: router, server: server(connections),
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
            connections.add(channel)
            port.yield(channel.localAddress?.port ?? 0)
        },
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let server = Task {
        do { try await connections.run { try await application.run() } } catch { port.finish() }
    }
    defer { server.cancel() }
    for await port in ports { return try await body(port) }
    throw CancellationError()
}
