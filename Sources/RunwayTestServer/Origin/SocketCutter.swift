import NIOCore

/// An outbound event that ends the socket of a connection below TLS.
enum SocketEnding: Sendable {
    /// Close the socket without TLS's `close_notify`.
    case closed
    case reset
}

/// The first handler of the pipeline, next to the socket. It ends the connection without notifying later handlers.
final class SocketCutter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The layout of the system's `struct linger`. On Linux, no module that may be imported here declares it.
    ///
    /// A socket that lingers for zero seconds is closed with RST instead of FIN.
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
