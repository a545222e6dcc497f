import NIOCore
import NIOTLS

/// Buffers the bytes after TLS's handshake until the handlers of HTTP are in the pipeline, and reports the handshake.
///
/// The handler buffers at most one read of the socket, since it turns off the channel's automatic reading at the end of
/// the handshake.
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
    /// Called once with the protocol that both ends agreed on (ALPN), or with the error of the handshake; `nil` after
    /// that.
    private var onHandshake: OnHandshake?

    /// Creates a handler; without `onHandshake`, one for a plain connection.
    init(onHandshake: OnHandshake? = nil) { self.onHandshake = onHandshake }

    private func endHandshake(_ result: Result<String?, any Error>) {
        // The call may close the channel, which ends the handshake again.
        let call = onHandshake.take()
        call?(self, result)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let name)? = event as? TLSUserEvent, onHandshake != nil {
            // TLS passes on the bytes of the read that completed the handshake right after this event, whatever the option is.
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
