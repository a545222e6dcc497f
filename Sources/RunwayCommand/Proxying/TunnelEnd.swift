import NIOCore

/// One of a tunnel's two connections. Forwards the bytes that it reads to its partner, as fast as the partner can send.
///
/// Used only on its event loop.
final class TunnelEnd: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var context: ChannelHandlerContext?
    /// The other connection; `nil` before the tunnel opens, and after it ends.
    private var partner: TunnelEnd?
    /// Whether the peer has closed its sending half of this connection.
    private var isInputClosed = false
    /// Whether a read is postponed until the partner has sent its bytes.
    private var mustRead = false
    private(set) var receivedByteCount = 0

    /// Connects the two ends of a tunnel, and starts to read both.
    static func join(_ one: TunnelEnd, _ other: TunnelEnd) {
        one.partner = other
        other.partner = one
        one.readIfPossible()
        other.readIfPossible()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends bytes that were read before the tunnel opened.
    func send(_ bytes: ByteBuffer) {
        receivedByteCount += bytes.readableBytes
        partner?.write(bytes)
        partner?.context?.flush()
    }

    /// Does nothing, since the tunnel end itself decides when to read.
    func read(context: ChannelHandlerContext) {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        receivedByteCount += bytes.readableBytes
        partner?.write(bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        partner?.context?.flush()
        readIfPossible()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, partner?.mustRead == true { partner?.readIfPossible() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            partner?.endOutput()
        case is IdleStateHandler.IdleStateEvent: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        let other = partner
        partner = nil
        other?.end()
        context.fireChannelInactive()
    }

    private func write(_ bytes: ByteBuffer) { context?.write(Self.wrapOutboundOut(bytes), promise: nil) }

    private func readIfPossible() {
        guard let context, !isInputClosed, let partner else { return }
        mustRead = partner.context?.channel.isWritable == false
        if !mustRead { context.read() }
    }

    /// Closes the sending half after all written bytes are sent. Closes the connection if its receiving half is closed,
    /// too.
    private func endOutput() {
        guard let context else { return }
        let mode: CloseMode = isInputClosed ? .all : .output
        let channel = context.channel
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer())).whenComplete { _ in
            channel.close(mode: mode, promise: nil)
        }
    }

    /// Closes the connection after all written bytes are sent.
    private func end() {
        partner = nil
        isInputClosed = true
        endOutput()
    }
}
