import NIOCore
import NIOTLS

/// Buffers the bytes after the TLS handshake until the HTTP handlers are in the pipeline, and reports the handshake.
///
/// It turns off automatic reading at the end of the handshake, so it buffers at most one read of the socket.
final class HandoverHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    typealias OnHandshake = (HandoverHandler, Result<String?, any Error>) -> Void

    private enum Event {
        case bytes(ByteBuffer)
        case readComplete
        case event(Any)
        case error(any Error)
        case inactive
    }

    private var events: [Event] = []
    /// Called once, with the negotiated protocol (ALPN) or with the error of the handshake; then set to `nil`.
    private var onHandshake: OnHandshake?

    /// - Parameter onHandshake: Called when the handshake has ended; `nil` for a plain connection.
    init(onHandshake: OnHandshake? = nil) { self.onHandshake = onHandshake }

    private func endHandshake(_ result: Result<String?, any Error>) {
        // The closure may close the channel, which would report the end of the handshake again.
        let call = onHandshake.take()
        call?(self, result)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let name)? = event as? TLSUserEvent, onHandshake != nil {
            // After this event, TLS still passes on the other bytes of the same read, even without automatic reading.
            try? context.channel.syncOptions?.setOption(.autoRead, value: false)
            endHandshake(.success(name))
        } else {
            events.append(.event(event))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { events.append(.bytes(unwrapInboundIn(data))) }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .bytes? = events.last { events.append(.readComplete) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if onHandshake == nil { return events.append(.error(error)) }
        endHandshake(.failure(error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        events.append(.inactive)
        endHandshake(.failure(ChannelError.eof))
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        let stored = events
        events = []
        for event in stored {
            switch event {
            case .bytes(let bytes): context.fireChannelRead(wrapInboundOut(bytes))
            case .readComplete: context.fireChannelReadComplete()
            case .event(let event): context.fireUserInboundEventTriggered(event)
            case .error(let error): context.fireErrorCaught(error)
            case .inactive: context.fireChannelInactive()
            }
        }
        context.leavePipeline(removalToken: removalToken)
    }
}
