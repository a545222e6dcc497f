import NIOCore
import NIOTLS

/// Stands behind TLS until the handlers that speak HTTP are there: tells of the handshake, and keeps what comes after it.
///
/// It keeps no more than one read of the socket holds, since the channel stops to read by itself when the handshake is done.
final class HandoverHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Event {
        case bytes(ByteBuffer)
        case readComplete
        case event(Any)
        case error(any Error)
        case inactive
    }

    private var events: [Event] = []
    /// Told once what became of the handshake: the protocol that was agreed on, or why it failed.
    private var onHandshake: ((Result<String?, any Error>) -> Void)?

    /// Makes a handler; without `onHandshake` there is none to wait for.
    init(onHandshake: ((Result<String?, any Error>) -> Void)? = nil) { self.onHandshake = onHandshake }

    private func endHandshake(_ result: Result<String?, any Error>) {
        // Whoever is told may close the channel, which tells again.
        let told = onHandshake.take()
        told?(result)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let name)? = event as? TLSUserEvent, onHandshake != nil {
            // TLS gives what followed the handshake in the same read right after this event, whatever the option says then.
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
        let kept = events
        events = []
        for event in kept {
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
