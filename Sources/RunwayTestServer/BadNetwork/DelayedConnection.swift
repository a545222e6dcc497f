import NIOCore
import RunwayTesting

/// One connection through a path: carries bytes both ways, delayed and in order. Runs on its event loop.
final class DelayedConnection {
    /// The size that is requested for the socket buffers of a path: 128 KiB, which Linux doubles.
    ///
    /// The buffers of a loopback connection grow to megabytes, all of which a cut would lose. A network holds about as
    /// many bytes as it carries in a round trip.
    static let socketByteCount: SocketOptionValue = 128 << 10
    /// The most bytes that are under way in one direction of a path that delays bytes; the sender waits meanwhile.
    private static let maximumDelayedByteCount = 4 << 20
    /// The most bytes that wait in one direction of a path without a delay, for a receiver that is slower than the
    /// sender.
    private static let maximumUndelayedByteCount = 128 << 10

    private enum Item {
        case bytes(ByteBuffer)
        case end
    }

    /// The bytes in transit in one direction.
    private struct Direction {
        var items: [(due: NIODeadline, item: Item)] = []
        var byteCount = 0
        var last = NIODeadline.uptimeNanoseconds(0)
        var isScheduled = false
        var isHeldBack = false
    }

    /// The most bytes that are under way in one direction.
    private var maximumByteCount: Int {
        if case .passing(let conditions) = path.state, !conditions.delaysBytes { return Self.maximumUndelayedByteCount }
        return Self.maximumDelayedByteCount
    }

    private let path: NetworkPath
    private let channels: [any Channel]
    private var directions = [Direction(), Direction()]
    private let eventLoop: any EventLoop
    private var random: SeededGenerator

    /// Joins two channels of one loop: the client's and the server's.
    init(_ client: any Channel, _ server: any Channel, over path: NetworkPath, seed: UInt64) {
        self.path = path
        channels = [client, server]
        eventLoop = client.eventLoop
        random = SeededGenerator(seed: seed)
    }

    /// Notes that bytes arrived from a side; `nil` is its end.
    func received(_ bytes: ByteBuffer?, from side: Int) {
        if side == 0, let bytes, path.countSent(bytes.readableBytes) { return reset() }
        var delay = Duration.zero
        if case .passing(let conditions) = path.state { delay = conditions.delay(using: &random) }
        // Later bytes never arrive before earlier ones.
        let due = max(.now() + TimeAmount(delay), directions[side].last)
        directions[side].last = due
        directions[side].items.append((due, bytes.map { .bytes($0) } ?? .end))
        directions[side].byteCount += bytes?.readableBytes ?? 0
        if directions[side].byteCount > maximumByteCount { holdBack(side, true) }
        schedule(side)
    }

    /// Notes that a side can take more bytes.
    func drained(_ side: Int) { schedule(1 - side) }

    /// Notes that the path behaves in another way from now on.
    func pathDidChange() {
        if path.state == .refusing { return reset() }
        for side in 0...1 { schedule(side) }
    }

    /// Ends both sides without a goodbye.
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
        // Bytes that a receiver does not take hold its sender back, like the window of TCP.
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

/// Passes the bytes that one side of a connection sends to the connection.
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
        // A side that breaks takes the other with it, as a real path does.
        connection.reset()
    }

    private func end() {
        if isOver { return }
        isOver = true
        connection.received(nil, from: side)
    }
}
