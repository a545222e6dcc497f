import NIOCore
import NIOPosix

/// A proxy for TCP that passes all bytes on, in order, a fixed time after they came, in both directions.
///
/// What it delays is the time on the way, not the room on it: any number of bytes is on the way at once. The handshake of TCP is made
/// with the proxy; the round trip that it would take is waited for before the first bytes are passed on.
struct DelayProxy {
    /// Listens on a free port of the loopback; gives the port.
    static func start(to port: Int, delay: TimeAmount) async throws -> Int {
        // A thread of its own, so that neither the server's nor the clients' work makes it late.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { near in
                near.eventLoop.makeCompletedFuture {
                    near.eventLoop.scheduleTask(in: delay * 2) { connect(near, to: port, delay) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return channel.localAddress?.port ?? 0
    }

    private static func connect(_ near: any Channel, to port: Int, _ delay: TimeAmount) {
        // On the same loop, so that what both ends know is touched by one thread.
        ClientBootstrap(group: near.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { far in
                try near.pipeline.syncOperations.addHandler(DelayedPassage(to: far, delay))
                try far.pipeline.syncOperations.addHandler(DelayedPassage(to: near, delay))
                for channel in [near, far] { channel.setOption(.autoRead, value: true).whenSuccess { channel.read() } }
            }
            .whenFailure { _ in near.close(promise: nil) }
    }
}

/// Passes what comes in on one channel to another, later.
private final class DelayedPassage: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let peer: any Channel
    private let delay: TimeAmount

    init(to peer: any Channel, _ delay: TimeAmount) {
        self.peer = peer
        self.delay = delay
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        // Tasks of one instant run in the order in which they were scheduled.
        context.eventLoop.scheduleTask(in: delay) { [peer] in peer.writeAndFlush(bytes, promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        context.eventLoop.scheduleTask(in: delay) { [peer] in peer.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
