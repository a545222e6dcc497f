import NIOCore

/// Requests a connection to the host from a proxy. It performs the steps of its ``ProxyHandshake``.
final class ProxyHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    typealias OnEnd = (ProxyHandshakeHandler, Result<Void, any Error>) -> Void

    private var handshake: ProxyHandshake
    /// Called at the end of the handshake; then set to `nil`.
    private var onEnd: OnEnd?

    /// - Parameter onEnd: Called once, when the handshake has ended.
    init(_ handshake: ProxyHandshake, onEnd: @escaping OnEnd) {
        self.handshake = handshake
        self.onEnd = onEnd
    }

    /// Sends the first bytes. The channel must be active and have this handler.
    func start(on channel: any Channel) throws {
        channel.writeAndFlush(ByteBuffer(bytes: try handshake.start()), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // After the handshake, nothing more is read.
        if onEnd == nil { return }
        do {
            switch try handshake.receive(unwrapInboundIn(data).readableBytesView) {
            case .wait: break
            case .send(let bytes): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .done:
                // The next bytes are for the TLS handler, which is not in the pipeline yet.
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
        let call = onEnd.take()
        call?(self, result)
    }
}
