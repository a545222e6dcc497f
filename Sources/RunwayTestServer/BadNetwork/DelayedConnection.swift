import NIOCore
import RunwayTesting

/// One connection over a path. Carries bytes in both directions, delayed and in order. Used only on its event loop.
final class DelayedConnection {
    /// The requested size of a path's socket buffers: 128 KiB, which Linux doubles.
    ///
    /// By default the buffers of a loopback connection grow to megabytes, and a cut would lose all of these bytes. A
    /// real network holds about as many bytes as it carries in one round trip.
    static let socketByteCount: SocketOptionValue = 128 << 10
    /// The maximum number of bytes in transit in one direction of a delaying path. At this limit, the sender waits.
    private static let maximumDelayedByteCount = 4 << 20
    /// The maximum number of bytes in transit in one direction of a path without delay, if the receiver is slow.
    private static let maximumUndelayedByteCount = 128 << 10

    private enum Item {
        case bytes(ByteBuffer)
        case end
    }

    private struct Direction {
        var items: [(due: NIODeadline, item: Item)] = []
        var byteCount = 0
        var last = NIODeadline.uptimeNanoseconds(0)
        var isScheduled = false
        var isHeldBack = false
    }

    private var maximumByteCount: Int {
        if case .passing(let conditions) = path.state, !conditions.delaysBytes { return Self.maximumUndelayedByteCount }
        return Self.maximumDelayedByteCount
    }

    private let path: NetworkPath
    private let channels: [any Channel]
    private var directions = [Direction(), Direction()]
    private let eventLoop: any EventLoop
    private var random: SeededGenerator

    /// Connects the client's channel and the server's channel, which share an event loop.
    init(_ client: any Channel, _ server: any Channel, over path: NetworkPath, seed: UInt64) {
        self.path = path
        channels = [client, server]
        eventLoop = client.eventLoop
        random = SeededGenerator(seed: seed)
    }

    /// Processes bytes from a side; `nil` means that the side has ended.
    func received(_ bytes: ByteBuffer?, from side: Int) {
        if side == 0, let bytes, path.countSent(bytes.readableBytes) { return reset() }
        var delay = Duration.zero
        if case .passing(let conditions) = path.state { delay = conditions.delay(using: &random) }
        // Later bytes must not arrive before earlier ones.
        let due = max(.now() + TimeAmount(delay), directions[side].last)
        directions[side].last = due
        directions[side].items.append((due, bytes.map { .bytes($0) } ?? .end))
        directions[side].byteCount += bytes?.readableBytes ?? 0
        if directions[side].byteCount > maximumByteCount { holdBack(side, true) }
        schedule(side)
    }

    /// Continues to deliver bytes, since a side can accept more.
    func drained(_ side: Int) { schedule(1 - side) }

    /// Applies new conditions of the path.
    func pathDidChange() {
        if path.state == .refusing { return reset() }
        for side in 0...1 { schedule(side) }
    }

    func reset() {
        for channel in channels { channel.triggerUserOutboundEvent(SocketEnding.reset, promise: nil) }
    }

    private func schedule(_ side: Int) {
        guard !directions[side].isScheduled, let first = directions[side].items.first, path.state != .silent,
            channels[1 - side].isWritable
        else { return }
        directions[side].isScheduled = true
        eventLoop.assumeIsolated().scheduleTask(deadline: first.due) {
            self.directions[side].isScheduled = false
            self.deliver(side)
        }
    }

    private func deliver(_ side: Int) {
        guard path.state != .silent else { return }
        let now = NIODeadline.now()
        let peer = channels[1 - side]
        // If the receiver does not accept bytes, the sender waits, as with the window of TCP.
        while peer.isWritable, let (due, item) = directions[side].items.first, due <= now {
            directions[side].items.removeFirst()
            switch item {
            case .bytes(let bytes):
                directions[side].byteCount -= bytes.readableBytes
                peer.write(bytes, promise: nil)
            case .end:
                peer.flush()
                peer.close(mode: .output, promise: nil)
            }
        }
        peer.flush()
        if directions[side].byteCount < maximumByteCount / 2 { holdBack(side, false) }
        schedule(side)
    }

    private func holdBack(_ side: Int, _ isHeldBack: Bool) {
        guard directions[side].isHeldBack != isHeldBack else { return }
        directions[side].isHeldBack = isHeldBack
        try? channels[side].syncOptions?.setOption(.autoRead, value: !isHeldBack)
    }
}

/// Passes the bytes that arrive from the client or the server to the ``DelayedConnection``.
final class DelayedSide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: DelayedConnection
    private let side: Int
    private var isOver = false

    init(_ connection: DelayedConnection, side: Int) {
        self.connection = connection
        self.side = side
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.received(unwrapInboundIn(data), from: side)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { connection.drained(side) }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { end() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // If one side breaks, the other is reset, too, as on a real path.
        connection.reset()
    }

    private func end() {
        if isOver { return }
        isOver = true
        connection.received(nil, from: side)
    }
}
