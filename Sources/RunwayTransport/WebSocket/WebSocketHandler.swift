import NIOCore
import NIOWebSocket
import Runway

/// Performs the actions of a ``WebSocketMachine``, as the last handler of a channel of frames.
final class WebSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let inbox: WebSocketInbox
    private let offer: WebSocketOffer
    private let authority: String?
    private let deflater: MessageDeflater?
    private var machine: WebSocketMachine
    private var context: ChannelHandlerContext?
    private var closeTimer: Scheduled<Void>?
    private var livenessTimer: Scheduled<Void>?
    /// The bytes of the latest ping. The pong is sent when the channel is writable again.
    private var pong: ByteBuffer?
    private var isReadPending = false
    private var isHeld = false
    private var pingCount: UInt64 = 0
    private var failure: (any Error)?

    init(
        _ offer: WebSocketOffer, _ deflate: DeflateAgreement?, to authority: String?, inbox: WebSocketInbox
    ) throws(WebSocketProblem) {
        self.inbox = inbox
        self.offer = offer
        self.authority = authority
        var inflater: MessageInflater?
        if let deflate {
            inflater = MessageInflater(resetsContext: deflate.resetsServerContext)
            guard inflater != nil else { throw .handshake("there is not enough memory to decompress") }
        }
        // If creating the compressor fails, messages are sent uncompressed, which is always permitted (RFC 7692 §6).
        deflater = deflate.flatMap {
            MessageDeflater(windowBits: $0.clientWindowBits, resetsContext: $0.resetsClientContext)
        }
        machine = WebSocketMachine(maximumMessageByteCount: max(0, offer.maximumMessageByteCount), inflater: inflater)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
}

extension WebSocketHandler {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { perform(machine.receive(unwrapInboundIn(data))) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOWebSocketError { return perform(machine.receive(error)) }
        failure = failure ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        perform(machine.channelClosed())
        closeTimer?.cancel()
        livenessTimer?.cancel()
        pong = nil
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        if isHeld { isReadPending = true } else { context.read() }
    }

    /// Resumes reading after the reader has consumed enough.
    func resumeReading() {
        isHeld = false
        if isReadPending {
            isReadPending = false
            context?.read()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, let payload = pong.take() { write(.pong, payload) }
        context.fireChannelWritabilityChanged()
    }

    private func perform(_ actions: [WebSocketMachine.Action]) {
        for action in actions {
            switch action {
            case .deliver(let payload):
                // All messages of one read are delivered. After the client's close frame, messages beyond the reader's
                // buffer are discarded, so that the server's close frame can be read (RFC 6455 §1.4).
                if machine.isOpen {
                    if !inbox.append(payload) { isHeld = true }
                } else if inbox.hasRoom {
                    _ = inbox.append(payload)
                }
            case .pong(let payload):
                if context?.channel.isWritable == true { write(.pong, payload) } else { pong = payload }
            case .sendClose(let close):
                pong = nil
                write(.connectionClose, close.payload)
                inbox.change { $0.sent = close }
            case .end(let problem): end(problem)
            case .awaitClose:
                // The server's close frame could otherwise wait behind messages that nobody reads.
                resumeReading()
                guard closeTimer == nil else { continue }
                closeTimer = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(offer.closeTimeout)) {
                    self.perform(self.machine.closeTimedOut())
                }
            case .cut: context?.close(promise: nil)
            }
        }
    }

    private func end(_ problem: WebSocketProblem?) {
        let received = machine.received
        inbox.change { $0.received = received }
        let cause: (any Error)? = if problem == .lost { failure ?? problem } else { problem }
        inbox.finish(cause.map { NetworkError(transport: $0, from: authority) })
    }
}

/// Functions for outbound messages. Call them on the event loop.
extension WebSocketHandler {
    func send(_ payload: WebSocketPayload, promise: EventLoopPromise<Void>) {
        guard machine.isOpen, context != nil else { return promise.fail(WebSocketProblem.closed) }
        let (opcode, bytes): (WebSocketOpcode, [UInt8]) =
            switch payload {
            case .text(let text): (.text, Array(text.utf8))
            case .binary(let bytes): (.binary, bytes)
            }
        inbox.change { $0.sentMessageCount += 1 }
        if let deflater, bytes.count >= offer.deflate?.minimumByteCount ?? 0 {
            write(opcode, ByteBuffer(bytes: deflater.compress(bytes)), isCompressed: true, promise: promise)
        } else {
            write(opcode, ByteBuffer(bytes: bytes), promise: promise)
        }
    }

    func ping() {
        guard machine.isOpen else { return }
        pingCount += 1
        write(.ping, ByteBuffer(integer: pingCount))
    }

    /// Sends a ping, and closes the connection if no byte arrives in time.
    func checkLiveness(within limit: Duration) {
        guard machine.isOpen, livenessTimer == nil, !isHeld else { return }
        let before = inbox.status.receivedByteCount
        ping()
        livenessTimer = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            self.livenessTimer = nil
            if self.inbox.status.receivedByteCount == before { self.abandon(WireError.pingTimedOut) }
        }
    }

    /// Starts the closing handshake.
    func close(_ close: WebSocketClose) { perform(machine.close(close)) }

    /// Closes the connection immediately.
    func abandon(_ error: any Error) {
        inbox.finish((error as? NetworkError) ?? NetworkError(transport: error, from: authority))
        perform(machine.cut(failing: .closed))
    }

    private func write(
        _ opcode: WebSocketOpcode, _ payload: ByteBuffer, isCompressed: Bool = false,
        promise: EventLoopPromise<Void>? = nil
    ) {
        guard let context else {
            promise?.fail(WebSocketProblem.closed)
            return
        }
        // A client must mask every frame with an unpredictable key (RFC 6455 §5.3).
        let frame = WebSocketFrame(
            fin: true, rsv1: isCompressed, opcode: opcode, maskKey: .random(), data: payload)
        context.writeAndFlush(wrapOutboundOut(frame), promise: promise)
    }
}

/// Counts the bytes of a WebSocket's frames, including incomplete ones: any received byte shows that the server is
/// reachable.
final class WebSocketByteMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let inbox: WebSocketInbox

    init(_ inbox: WebSocketInbox) { self.inbox = inbox }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let byteCount = unwrapInboundIn(data).readableBytes
        inbox.received(byteCount: byteCount)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let byteCount = unwrapOutboundIn(data).readableBytes
        inbox.change { $0.sentByteCount += Int64(byteCount) }
        context.write(data, promise: promise)
    }
}
