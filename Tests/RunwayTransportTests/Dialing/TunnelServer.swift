import NIOCore
import NIOPosix
import RunwayTesting
import Synchronization

/// A proxy that speaks CONNECT or SOCKS 5, or says what a test wants it to say; it connects to a port of this machine, whatever it is
/// asked for.
final class TunnelServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let requests: AsyncStream<[UInt8]>

    /// Starts one.
    ///
    /// - Parameters:
    ///   - target: The port that it connects to.
    ///   - replies: What it says to each part that it receives; after the last it passes bytes on.
    init(to target: Int, replying replies: [[UInt8]]) async throws {
        let (requests, continuation) = AsyncStream<[UInt8]>.makeStream()
        self.requests = requests
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Tunnel(target: target, replies: replies) { continuation.yield($0) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// The next part that a client said.
    func nextRequest() async -> [UInt8] {
        for await request in requests { return request }
        return []
    }

    func close() async throws { try await channel.close() }

    private final class Tunnel: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let target: Int
        private var replies: [[UInt8]]
        private let onRequest: (([UInt8]) -> Void)
        private var server: (any Channel)?

        init(target: Int, replies: [[UInt8]], onRequest: @escaping ([UInt8]) -> Void) {
            self.target = target
            self.replies = replies
            self.onRequest = onRequest
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            if let server { return server.writeAndFlush(bytes, promise: nil) }
            onRequest(Array(bytes.readableBytesView))
            guard !replies.isEmpty else { return }
            let reply = ByteBuffer(bytes: replies.removeFirst())
            let client = context.channel
            guard replies.isEmpty else { return client.writeAndFlush(reply, promise: nil) }
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { server in
                    server.eventLoop.makeCompletedFuture {
                        try server.pipeline.syncOperations.addHandler(Glue(to: client))
                    }
                }
                .connect(host: "127.0.0.1", port: target).assumeIsolated().whenSuccess { server in
                    self.server = server
                    client.writeAndFlush(reply, promise: nil)
                }
        }

        func channelInactive(context: ChannelHandlerContext) { server?.close(promise: nil) }
    }

    private final class Glue: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let peer: any Channel

        init(to peer: any Channel) { self.peer = peer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            peer.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { peer.close(promise: nil) }
    }
}
