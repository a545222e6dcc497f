public import HummingbirdCore
public import Logging
public import NIOCore
import Synchronization

/// Bounds the number of a server's connections and the time until their first request, and leaves the rest to `base`.
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
            try channel.pipeline.syncOperations.addHandler(FirstRequestTimer(idleTime), name: FirstRequestTimer.name)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    /// Serves a connection.
    public func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

/// How many connections a server has.
final class ConnectionCount: Sendable {
    private let maximumCount: Int
    /// Guards the count.
    private let count = Mutex(0)

    init(upTo maximumCount: Int) { self.maximumCount = maximumCount }

    /// Counts one more; returns `false`, and counts none, if there are as many as allowed.
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
final class FirstRequestTimer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    static let name = "first-request"
    private let time: TimeAmount
    private var timer: Scheduled<Void>?

    init(_ time: TimeAmount) { self.time = time }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: time) { channel.close(mode: .all, promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    /// Ends the time of a connection, or of the connection of a stream: its first request has come.
    static func end(for channel: any Channel) {
        let isConnection = (try? channel.pipeline.syncOperations.context(name: name)) != nil
        (isConnection ? channel : channel.parent)?.pipeline.removeHandler(name: name, promise: nil)
    }
}
