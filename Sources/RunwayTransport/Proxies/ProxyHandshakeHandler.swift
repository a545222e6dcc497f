import NIOCore

/// Asks a proxy for a connection to the host, before anybody else speaks on the channel.
final class ProxyHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var handshake: ProxyHandshake
    private var onEnd: ((Result<Void, any Error>) -> Void)?

    /// Makes a handler; `onEnd` is told once what the proxy said.
    init(_ handshake: ProxyHandshake, onEnd: @escaping (Result<Void, any Error>) -> Void) {
        self.handshake = handshake
        self.onEnd = onEnd
    }

    /// Sends the first bytes. The handler is in the pipeline of a channel that is active.
    func start(on channel: any Channel) throws {
        channel.writeAndFlush(ByteBuffer(bytes: try handshake.start()), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // After the end there is nobody left to whom the bytes could be given; the channel does not read by then.
        if onEnd == nil { return }
        do {
            switch try handshake.receive(unwrapInboundIn(data).readableBytesView) {
            case .wait: break
            case .send(let bytes): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .done:
                // What follows is for TLS, which is not there yet.
                try context.channel.syncOptions?.setOption(.autoRead, value: false)
                end(.success(()))
            }
        } catch {
            end(.failure(error))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(.failure(error)) }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(ProxyError("it closed the connection")))
        context.fireChannelInactive()
    }

    private func end(_ result: Result<Void, any Error>) {
        guard let onEnd else { return }
        self.onEnd = nil
        onEnd(result)
    }
}
