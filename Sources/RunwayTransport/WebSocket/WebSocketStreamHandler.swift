import HTTPTypes
import NIOCore

/// Reads the response to a handshake on an HTTP/2 stream. The request was already sent.
///
/// If the response opens a WebSocket, bytes after it are not read until the handler is removed.
final class WebSocketStreamHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let handshake: WebSocketHandshake
    private var refusal: RefusedHandshake?
    private var failure: (any Error)?
    /// Called once, with the response or the error; then set to `nil`.
    private var onEnd: ((Result<WebSocketHandshakeHandler.Outcome, any Error>) -> Void)?

    init(
        _ handshake: WebSocketHandshake,
        onEnd: @escaping (Result<WebSocketHandshakeHandler.Outcome, any Error>) -> Void
    ) {
        self.handshake = handshake
        self.onEnd = onEnd
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let head = event as? HTTPResponse else { return context.fireUserInboundEventTriggered(event) }
        guard head.status.kind == .successful else {
            refusal = RefusedHandshake(head: head)
            return
        }
        do {
            end(.success(.opened(head, try handshake.streamOutcome(of: head))))
        } catch {
            end(.failure(error))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard refusal != nil else { return context.fireChannelRead(data) }
        if refusal?.append(unwrapInboundIn(data)) == false { endRefused() }
    }

    private func endRefused() {
        if let refusal { end(.success(.refused(refusal))) }
    }

    private func end(_ result: Result<WebSocketHandshakeHandler.Outcome, any Error>) {
        let call = onEnd.take()
        call?(result)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = failure ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if failure == nil { endRefused() }
        end(.failure(failure ?? WireError.closed))
        context.fireChannelInactive()
    }
}
