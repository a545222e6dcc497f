import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Runway
import Synchronization

@testable import RunwayTransport

/// A server that speaks TLS, counts what comes through it, and answers "served" to the first bytes.
final class TLSServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let received: ReceivedBytes

    /// The bytes that came through TLS from all clients.
    var receivedByteCount: Int { received.count.withLock { $0 } }

    fileprivate final class ReceivedBytes: Sendable {
        /// Guards the count.
        let count = Mutex(0)
    }

    fileprivate init(_ configuration: TLSConfiguration) async throws {
        let context = try NIOSSLContext(configuration: configuration)
        let received = ReceivedBytes()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), Answering(received))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.received = received
        port = channel.localAddress?.port ?? 0
    }

    fileprivate func close() async { try? await channel.close() }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let received: ReceivedBytes
        init(_ received: ReceivedBytes) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.count.withLock { $0 += unwrapInboundIn(data).readableBytes }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "served")), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// Runs a server for the time of `body`.
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

extension TLSPolicy {
    /// Makes a policy ready in one step.
    init(
        _ policy: TrustPolicy, applicationProtocols: [String], isReleaseBuild: Bool = TrustMaterial.isReleaseBuild,
        clock: LayerClock = .system
    ) throws {
        try self.init(
            TrustMaterial(policy, isReleaseBuild: isReleaseBuild), applicationProtocols: applicationProtocols,
            clock: clock)
    }

    /// Connects to a port of this machine as if it were `host`, sends a request when the handshake is over, and gives the answer.
    ///
    /// - Throws: What the handshake fails with, explained.
    func ask(_ host: String = "localhost", port: Int) async throws -> String {
        let answer = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let client = try client(for: host)
                    try channel.pipeline.syncOperations.addHandlers(client.handler, Asking(client, answer))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        defer { channel.close(promise: nil) }
        return try await answer.futureResult.get()
    }
}

private final class Asking: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let client: TLSClient
    private let answer: EventLoopPromise<String>

    init(_ client: TLSClient, _ answer: EventLoopPromise<String>) {
        self.client = client
        self.answer = answer
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted = event as? TLSUserEvent else { return }
        let request = "GET /iso_4217.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        answer.succeed(String(buffer: unwrapInboundIn(data)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(client.explained(error))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }
}
