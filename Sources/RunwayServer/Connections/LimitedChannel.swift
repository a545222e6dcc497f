public import HummingbirdCore
package import Logging
package import NIOCore
import Synchronization

/// Limits the number of a server's connections, and the time for which each connection may have no request. Everything
/// else is left to `base`.
package struct LimitedChannel<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base
    private let idleTime: TimeAmount
    private let count: ConnectionCount

    /// Creates a channel that limits the connections of `base`.
    ///
    /// - Parameters:
    ///   - base: Serves the connections. Configure it with `ConnectionLimits.requests`, too.
    ///   - limits: The limits.
    package init(base: Base, limits: ConnectionLimits) {
        self.base = base
        idleTime = TimeAmount(limits.idleTime)
        count = ConnectionCount(upTo: limits.affordableConnectionCount)
    }

    /// Prepares an accepted connection, or closes it if the maximum number is reached.
    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
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

    /// Serves a connection with the base channel.
    package func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension ServerChildChannel {
    /// Returns a channel that limits the number of connections of this channel, and the time for which each connection
    /// may have no request. Configure this channel with ``ConnectionLimits/requests``, too.
    ///
    /// The listening socket pauses for a second when the process has no file descriptors left.
    public func limited(by limits: ConnectionLimits) -> some ServerChildChannel {
        LimitedChannel(base: self, limits: limits)
    }
}

final class ConnectionCount: Sendable {
    private let maximumCount: Int
    /// Guards the count.
    private let count = Mutex(0)

    init(upTo maximumCount: Int) { self.maximumCount = maximumCount }

    /// Increments the count. Returns `false` if the limit is reached.
    func begin() -> Bool {
        count.withLock { count in
            guard count < maximumCount else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}

/// Closes a connection that has no request for a time, including one that never completes its TLS handshake.
///
/// In HTTP/1.1, the first request ends the timer, since Hummingbird handles idle connections later. In HTTP/2, the
/// timer restarts whenever the last open stream ends. Hummingbird sends GOAWAY and PING to an idle connection, but
/// waits for the acknowledgement forever.
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

    /// Records the first request of a connection, or the request of a stream.
    ///
    /// - Returns: The timer of the stream's connection. Call `endStream()` on it when the stream ends.
    static func begin(for channel: any Channel) -> RequestTimer? {
        if timer(of: channel) != nil {
            channel.pipeline.removeHandler(name: name, promise: nil)
            return nil
        }
        // For an HTTP/1.1 connection, the parent is the listening socket, which may have another event loop.
        guard let connection = channel.parent, connection.eventLoop === channel.eventLoop,
            let timer = timer(of: connection)
        else { return nil }
        timer.streamCount += 1
        timer.timer?.cancel()
        return timer
    }

    func endStream() {
        streamCount -= 1
        // The timer fires later than Hummingbird's timeout, so that a client that still responds can finish.
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
