public import HummingbirdCore
public import Logging
public import NIOCore
import Synchronization

/// Bounds the number of a server's connections and the time in which they have no request, and leaves the rest to
/// `base`.
///
/// The listening socket of the server rests for a second when the process has no descriptors left.
public struct LimitedChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let idleTime: TimeAmount
    private let count: ConnectionCount

    /// Bounds the connections of a server.
    ///
    /// - Parameters:
    ///   - base: Serves them. Give its requests ``ConnectionLimits/requests``, too.
    ///   - limits: The bounds.
    public init(base: Base, limits: ConnectionLimits) {
        self.base = base
        idleTime = TimeAmount(limits.idleTime)
        count = ConnectionCount(upTo: limits.affordableConnectionCount)
    }

    /// Prepares an accepted connection; closes it if there are too many.
    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        AcceptRest.install(on: channel.parent)
        guard count.begin() else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        channel.closeFuture.whenComplete { [count] _ in count.end() }
        do {
            try channel.pipeline.syncOperations.addHandler(RequestTimer(idleTime), name: RequestTimer.name)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    /// Serves a connection.
    public func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

/// The number of connections of a server.
final class ConnectionCount: Sendable {
    private let maximumCount: Int
    /// Guards the count.
    private let count = Mutex(0)

    init(upTo maximumCount: Int) { self.maximumCount = maximumCount }

    /// Adds one to the count. Returns `false`, and adds nothing, if the limit is reached.
    func begin() -> Bool {
        count.withLock { count in
            guard count < maximumCount else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}

/// Closes a connection that has no request within a time: also one that never completes its TLS handshake.
///
/// The first request of HTTP/1.1 ends the time, since Hummingbird closes such connections later. Over HTTP/2 the time
/// begins anew with the end of every last stream: at an idle time's end Hummingbird sends GOAWAY and PING, and waits
/// for the acknowledgement for ever.
final class RequestTimer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    static let name = "request-timer"
    private let time: TimeAmount
    private var timer: Scheduled<Void>?
    private var channel: (any Channel)?
    private var streamCount = 0

    init(_ time: TimeAmount) { self.time = time }

    func handlerAdded(context: ChannelHandlerContext) {
        channel = context.channel
        start(time)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        channel = nil
    }

    /// Notes that the first request of a connection, or the request of a stream, has arrived.
    ///
    /// - Returns: The timer of the stream's connection, whose `endStream()` is to be called when the stream ends.
    static func begin(for channel: any Channel) -> RequestTimer? {
        if timer(of: channel) != nil {
            channel.pipeline.removeHandler(name: name, promise: nil)
            return nil
        }
        // The parent of a connection is the listening socket, which may have another event loop.
        guard let connection = channel.parent, connection.eventLoop === channel.eventLoop,
            let timer = timer(of: connection)
        else { return nil }
        timer.streamCount += 1
        timer.timer?.cancel()
        return timer
    }

    func endStream() {
        streamCount -= 1
        // After Hummingbird, which lets a client finish that still responds.
        if streamCount == 0 { start(time + min(time, .seconds(5))) }
    }

    private func start(_ time: TimeAmount) {
        guard let channel else { return }
        timer = channel.eventLoop.scheduleTask(in: time) { channel.close(mode: .all, promise: nil) }
    }

    private static func timer(of channel: any Channel) -> RequestTimer? {
        try? channel.pipeline.syncOperations.handler(type: RequestTimer.self)
    }
}
