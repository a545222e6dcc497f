import NIOCore
import NIOPosix
import Runway
import Testing

@testable import RunwayTransport

/// An HTTP/2 connection of which NIO's handler says that it is broken.
@Suite(.timeLimit(.minutes(10)))
struct BrokenConnectionTests {
    @Test func itAcceptsNoRequestWhileItsChannelCloses() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PingOfAWrongSize())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let dialer = try TestDialer().dialer
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: address).get()
        let wasLeftFirst = try await channel.eventLoop.flatSubmit {
            let response = channel.eventLoop.makePromise(of: Bool.self)
            channel.eventLoop.assumeIsolated().scheduleTask(in: .seconds(60)) { response.succeed(false) }
            do {
                let closing = HeldClose()
                try channel.pipeline.syncOperations.addHandler(closing)
                let pool = OriginPool(
                    Origin(scheme: "https", host: dialHost, port: 443), on: channel.eventLoop, dialer: dialer,
                    TransportConfiguration(), HTTP1Origins(TransportConfiguration(), dialer))
                let dialed = DialedConnection(
                    channel: channel, address: address, wire: WireRecord(),
                    handover: NIOLoopBound(HandoverHandler(), eventLoop: channel.eventLoop))
                let connection = try HTTP2Connection(1, dialed, in: pool)
                closing.onClose = { response.succeed(connection.isClosed) }
            } catch {
                response.fail(error)
            }
            return response.futureResult
        }.get()
        #expect(wasLeftFirst)
        try await server.close()
    }
}

/// Responses whatever comes with what no client may accept (RFC 9113 §6.7).
private final class PingOfAWrongSize: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = ByteBuffer(bytes: RawFrame.settings().bytes + RawFrame(.ping, [1]).bytes)
        context.writeAndFlush(NIOAny(bytes), promise: nil)
    }
}

/// Looks around before the channel closes.
private final class HeldClose: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var onClose: (() -> Void)?

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        onClose?()
        onClose = nil
        context.close(mode: mode, promise: promise)
    }
}
