package import HummingbirdCore
package import Logging
package import NIOCore

/// Registers every connection of a server, so that all can be closed at once, and passes the connection to `base`. The
/// listening socket pauses for a second when the process has no file descriptors left.
package struct CuttableChannel<Base: ServerChildChannel>: ServerChildChannel {
    package let base: Base
    package let connections: OpenConnections
    private let onAccepting: @Sendable () -> Void

    /// - Parameter onAccepting: Called with every connection.
    package init(base: Base, connections: OpenConnections, onAccepting: @escaping @Sendable () -> Void = {}) {
        self.base = base
        self.connections = connections
        self.onAccepting = onAccepting
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        onAccepting()
        AcceptRest.install(on: channel.parent)
        do {
            try channel.pipeline.syncOperations.addHandler(SocketHandler(), name: SocketHandler.name)
            // Hummingbird's servers treat a half-closed connection as open. No app half-closes, so such a client has
            // disconnected, and its requests in progress should stop.
            try channel.syncOptions?.setOption(ChannelOptions.allowRemoteHalfClosure, value: false)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        guard connections.add(channel) else {
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        return base.setup(channel: channel, logger: logger)
    }

    package func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
