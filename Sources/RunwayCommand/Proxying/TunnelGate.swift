import NIOCore
import NIOPosix
import Runway

/// The event that reports that a connection is for a tunnel: no HTTP request follows.
struct TunnelRequested {}

/// Opens the tunnels that clients of a forward proxy request. The handler is before the HTTP parser, and passes on the
/// bytes of connections without a tunnel.
///
/// Only the first request of a connection can open a tunnel. The proxy forwards the bytes of the tunnel unread.
final class TunnelGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// The bytes so far may be the start of a CONNECT request.
        case reading
        /// The connection is not for a tunnel, so its bytes are passed on.
        case passing
        case opening
        case open
        /// The CONNECT request was refused.
        case refused
    }

    private let tunnels: Tunnels
    private var state = State.reading
    /// The bytes that wait until the tunnel opens, or until they are passed on. The CONNECT request is removed from
    /// them.
    private var early: [UInt8] = []

    init(_ tunnels: Tunnels) { self.tunnels = tunnels }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data).readableBytesView
        switch state {
        case .passing: context.fireChannelRead(data)
        case .reading:
            let count = early.count
            early += bytes
            read(after: count, context)
        // A client should send nothing before the response to CONNECT. Bytes that are already here wait for the tunnel;
        // the channel reads no more until the tunnel opens.
        case .opening: early += bytes
        case .open, .refused: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Opening a tunnel has its own time limit, so idleness is ignored meanwhile.
        if event is IdleStateHandler.IdleStateEvent, case .opening = state { return }
        context.fireUserInboundEventTriggered(event)
    }

    /// Parses the received bytes. The first `count` of them were parsed before.
    private func read(after count: Int, _ context: ChannelHandlerContext) {
        switch ConnectRequest.beginning(early) {
        case .undecided: break
        case .other:
            state = .passing
            context.fireChannelRead(Self.wrapInboundOut(ByteBuffer(bytes: early)))
            early = []
        case .tunnel:
            do throws(Refusal) {
                guard case .complete(let request, let byteCount) = try ConnectRequest.read(early, after: count) else {
                    return
                }
                state = .opening
                early.removeFirst(byteCount)
                context.fireUserInboundEventTriggered(TunnelRequested())
                open(request, context)
            } catch {
                refuse(error, context)
            }
        }
    }

    private func open(_ request: ConnectRequest, _ context: ChannelHandlerContext) {
        let tunnel: Tunnels.Slot
        do throws(Refusal) { tunnel = try tunnels.admit(request) } catch { return refuse(error, context) }
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        tunnel.connect(on: context.eventLoop, until: context.channel.closeFuture).assumeIsolated().whenComplete {
            [self] result in
            switch result {
            case .success(let upstream) where upstream.isActive: join(upstream, tunnel, context)
            case .success: end(tunnel, failing: ChannelError.eof, context)
            case .failure(let error): end(tunnel, failing: error, context)
            }
        }
    }

    private func end(_ tunnel: Tunnels.Slot, failing error: any Error, _ context: ChannelHandlerContext) {
        tunnel.end(failing: error, up: 0, down: 0)
        refuse(Refusal(tunnelling: error), context)
    }

    private func join(_ upstream: any Channel, _ tunnel: Tunnels.Slot, _ context: ChannelHandlerContext) {
        guard context.channel.isActive, case .opening = state else {
            tunnel.end(failing: ChannelError.ioOnClosedChannel, up: 0, down: 0)
            return upstream.close(promise: nil)
        }
        state = .open
        let (client, server) = (TunnelEnd(), TunnelEnd())
        do {
            // The client may close its sending half and still receive. The server may do so, too.
            try context.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
            try context.pipeline.syncOperations.addHandler(client, position: .before(self))
            try upstream.pipeline.syncOperations.addHandler(server)
        } catch {
            tunnel.end(failing: error, up: 0, down: 0)
            upstream.close(promise: nil)
            return context.close(promise: nil)
        }
        context.writeAndFlush(
            Self.wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 Connection Established\r\n\r\n")), promise: nil)
        TunnelEnd.join(client, server)
        if !early.isEmpty { client.send(ByteBuffer(bytes: early)) }
        context.channel.closeFuture.assumeIsolated().whenComplete { _ in
            tunnel.end(failing: nil, up: client.receivedByteCount, down: server.receivedByteCount)
        }
    }

    private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        state = .refused
        let channel = context.channel
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: refusal.bytes))).whenComplete { _ in
            channel.close(mode: .output, promise: nil)
        }
        // A close with unread bytes would become a reset, and the client might lose the response (RFC 9112 §9.6).
        try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        context.eventLoop.scheduleTask(in: ClientConnection.lingering) { channel.close(promise: nil) }
    }
}
