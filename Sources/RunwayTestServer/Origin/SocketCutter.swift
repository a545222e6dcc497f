import NIOCore

/// An outbound event that ends a connection's socket below TLS.
enum SocketEnding: Sendable {
    /// The socket is closed, without TLS's farewell.
    case closed
    /// The socket is reset.
    case reset
}

/// The pipeline's first handler, next to the socket: it ends the connection without asking those behind it.
final class SocketCutter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The layout of the system's `struct linger`, which on Linux no module that may be imported here defines.
    ///
    /// A socket that lingers for zero seconds is closed with RST in place of FIN.
    private struct Linger {
        let isOn: CInt
        let seconds: CInt
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event as? SocketEnding {
        case .closed: context.close(promise: promise)
        case .reset:
            guard let socket = context.channel as? any SocketOptionProvider else {
                context.close(promise: promise)
                return
            }
            socket.unsafeSetSocketOption(level: .socket, name: .so_linger, value: Linger(isOn: 1, seconds: 0))
                .assumeIsolated().whenComplete { _ in context.close(promise: promise) }
        case nil: context.triggerUserOutboundEvent(event, promise: promise)
        }
    }
}
