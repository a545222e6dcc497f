import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The open connections of a server, so that they can be cut when it stops.
///
/// Hummingbird's own shutdown waits for clients to hang up: under HTTP/1.1 until an idle connection closes, under
/// HTTP/2 until the client answers a ping, under TLS for its close notification. A backend that lives as long as a
/// demo or a test can't wait for that.
final class ConnectionRegistry: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    /// Guards which connections are open, and whether new ones are refused.
    private let state = Mutex(State())

    /// Adds `channel` until it closes; cuts it at once when ``cutAll()`` was called before.
    ///
    /// Must be called on the channel's event loop, before any other handler is in its pipeline.
    fileprivate func add(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(SocketHandler(), name: SocketHandler.name)
        // Hummingbird's servers let a client close its half of a connection and go on listening. Apps do not do that:
        // one that closes its half has hung up, and what is in work for it should stop.
        try channel.syncOptions?.setOption(ChannelOptions.allowRemoteHalfClosure, value: false)
        let isAdded = state.withLock { state in
            guard !state.isClosed else { return false }
            state.open[ObjectIdentifier(channel)] = channel
            return true
        }
        guard isAdded else { throw ChannelError.ioOnClosedChannel }
        let identifier = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { _ = $0.open.removeValue(forKey: identifier) }
        }
    }

    /// Cuts every open connection, and every later one as it comes.
    func cutAll() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.open.values)
        }
        for channel in channels {
            channel.eventLoop.execute {
                // A close that starts at the pipeline's end would let TLS wait up to five seconds for the peer.
                let socket = try? channel.pipeline.syncOperations.context(name: SocketHandler.name)
                socket?.close(promise: nil)
            }
        }
    }
}

/// The handler nearest to the socket. It does nothing but mark the place from which a close meets no other handler.
private final class SocketHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    static let name = "listings-backend-socket"
}

/// Registers every connection, and leaves the rest to `base`.
struct RegisteredChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let registry: ConnectionRegistry
    let counter: StatisticsCounter

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        counter.connectionAccepted()
        do {
            try registry.add(channel)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
