import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The open connections of a server, so that they can be cut when it stops: its own shutdown waits for clients to hang up.
final class ConnectionCutter: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    /// Guards which connections are open, and whether new ones are refused.
    private let state = Mutex(State())

    /// Adds a connection until it closes; `false` where no more may come.
    func add(_ channel: any Channel) -> Bool {
        let identifier = ObjectIdentifier(channel)
        let isAdded = state.withLock { state in
            if !state.isClosed { state.open[identifier] = channel }
            return !state.isClosed
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { _ = $0.open.removeValue(forKey: identifier) }
        }
        return isAdded
    }

    /// Cuts every open connection, and refuses every later one.
    func cutAll() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.open.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }
}

/// Makes every connection one that can be cut, and leaves the rest to `base`.
struct CuttableChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let cutter: ConnectionCutter

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        guard cutter.add(channel) else { return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        do {
            // A client that closes its half of a connection has hung up: what is under way for it should stop.
            try channel.syncOptions?.setOption(ChannelOptions.allowRemoteHalfClosure, value: false)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
