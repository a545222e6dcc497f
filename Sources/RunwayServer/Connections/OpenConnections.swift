package import NIOCore
import ServiceLifecycle
import Synchronization

/// The open connections of a server, so that all can be closed at once when the server stops.
///
/// Hummingbird's own shutdown waits for clients: in HTTP/1.1 until an idle connection closes, in HTTP/2 until a ping is
/// acknowledged, in TLS for the close notification. A server that runs for one command or test cannot wait that long.
package final class OpenConnections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    /// Guards the open connections, and whether new ones are refused.
    private let state = Mutex(State())

    package init() {}

    /// Runs a server until it ends. Closes every connection when its task is cancelled or its service group shuts down.
    ///
    /// The server's task is cancelled only after every connection is closed: SwiftNIO traps if an accepted connection
    /// or stream is dropped while it is open.
    package func run(_ server: @escaping @Sendable () async throws -> Void) async throws {
        let serving = Task { try await server() }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await serving.value
        } onCancelOrGracefulShutdown: {
            self.cutAll { serving.cancel() }
        }
    }

    /// Adds a connection or the listening socket until it closes. Closes it immediately if the server is stopping.
    ///
    /// - Returns: Whether the connection may be used.
    @discardableResult
    package func add(_ channel: any Channel) -> Bool {
        let identifier = ObjectIdentifier(channel)
        let isAdded = state.withLock { state in
            if !state.isClosed { state.open[identifier] = channel }
            return !state.isClosed
        }
        guard isAdded else {
            channel.close(promise: nil)
            return false
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { _ = $0.open.removeValue(forKey: identifier) }
        }
        return true
    }

    /// Closes every open connection now, and every later one when it arrives. Calls `completion` when all are closed.
    private func cutAll(_ completion: @escaping @Sendable () -> Void) {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.open.values)
        }
        guard let eventLoop = channels.first?.eventLoop else { return completion() }
        for channel in channels {
            channel.eventLoop.execute {
                // Closing from the end of the pipeline would let TLS wait up to five seconds for the peer.
                let socket = try? channel.pipeline.syncOperations.context(name: SocketHandler.name)
                if let socket { socket.close(promise: nil) } else { channel.close(promise: nil) }
            }
        }
        EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: eventLoop).whenComplete { _ in completion() }
    }
}

/// Marks the position next to the socket. A close from there passes no other handler.
final class SocketHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    static let name = "socket"
}
