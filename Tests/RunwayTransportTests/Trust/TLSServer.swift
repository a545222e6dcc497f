import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server that speaks TLS, counts what comes through it, and responses "served" to each request without a body.
final class TLSServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let traffic: Traffic

    /// The bytes that came through TLS from all clients.
    var receivedByteCount: Int { traffic.counts.withLock { $0.received } }
    /// The connections that were made to it.
    var connectionCount: Int { traffic.counts.withLock { $0.opened } }
    /// Whether there was a client, and all that there were are gone: nothing more can come of them.
    var isAbandoned: Bool { traffic.counts.withLock { $0.opened > 0 && $0.opened == $0.closed } }

    fileprivate final class Traffic: Sendable {
        /// Guards what was counted.
        let counts = Mutex((received: 0, opened: 0, closed: 0))
    }

    fileprivate init(_ configuration: TLSConfiguration) async throws {
        let context = try NIOSSLContext(configuration: configuration)
        let traffic = Traffic()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                traffic.counts.withLock { $0.opened += 1 }
                channel.closeFuture.whenComplete { _ in traffic.counts.withLock { $0.closed += 1 } }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), RespondingHandler(traffic))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.traffic = traffic
        port = channel.localAddress?.port ?? 0
    }

    fileprivate func close() async { try? await channel.close() }

    private final class RespondingHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let traffic: Traffic
        private var head = ""
        init(_ traffic: Traffic) { self.traffic = traffic }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            traffic.counts.withLock { $0.received += bytes.readableBytes }
            head += String(buffer: bytes)
            guard head.hasSuffix("\r\n\r\n") else { return }
            head = ""
            let response = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nserved"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// Runs a server for the time of `body`.
@discardableResult
func withTLSServer<Value>(
    _ server: TestAuthority.Server, configure: (inout TLSConfiguration) throws -> Void = { _ in },
    _ body: (TLSServer) async throws -> Value
) async throws -> Value {
    var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(server.chainPEM.utf8)).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(server.keyPEM.utf8), format: .pem)))
    try configure(&configuration)
    let running = try await TLSServer(configuration)
    do {
        let value = try await body(running)
        await running.close()
        return value
    } catch {
        await running.close()
        throw error
    }
}
