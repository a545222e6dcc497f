package import NIOCore
import ServiceLifecycle
import Synchronization

/// The open connections of a server, so that they can be cut when it stops.
///
/// Hummingbird's own shutdown waits for clients to disconnect: under HTTP/1.1 until an idle connection closes, under
/// HTTP/2 until the client acknowledges a ping, under TLS for its close notification. A server that lives as long as a
/// command or a test can't wait for that.
package final class OpenConnections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    /// Guards which connections are open, and whether new ones are refused.
    private let state = Mutex(State())

    package init() {}

    /// Runs a server until it ends, and cuts every connection when its task is cancelled or its service group shuts
    /// down.
    ///
    /// The server's own task is cancelled when every connection is closed, and not before: dropping an accepted
    /// connection or stream while it is open is a programming error to SwiftNIO, which traps.
    package func run(_ server: @escaping @Sendable () async throws -> Void) async throws {
        let serving = Task { try await server() }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await serving.value
        } onCancelOrGracefulShutdown: {
            self.cutAll { serving.cancel() }
        }
    }

    /// Adds a connection, or the listening socket, until it closes. Closes it at once if the server is stopping.
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

    /// Closes every open connection at once, and every later one as it arrives. `completion` runs when all are closed.
    private func cutAll(_ completion: @escaping @Sendable () -> Void) {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.open.values)
        }
        guard let eventLoop = channels.first?.eventLoop else { return completion() }
        for channel in channels {
            channel.eventLoop.execute {
                // A close that starts at the pipeline's end would let TLS wait up to five seconds for the peer.
                let socket = try? channel.pipeline.syncOperations.context(name: SocketHandler.name)
                if let socket { socket.close(promise: nil) } else { channel.close(promise: nil) }
            }
        }
        EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: eventLoop).whenComplete { _ in completion() }
    }
}

/// The handler nearest to the socket. It only marks the position at which a close passes no other handler.
final class SocketHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    static let name = "socket"
}
