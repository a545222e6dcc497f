import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// One path of a ``BadNetwork``: a loopback address that leads to the server under the conditions that a test sets.
public final class NetworkPath: Sendable {
    private struct State {
        var path = PathState.passing(PathConditions())
        var connections: [UInt64: (eventLoop: any EventLoop, connection: NIOLoopBound<DelayedConnection>)] = [:]
        var count: UInt64 = 0
        var listener: (any Channel)?
        var hole: BlackHole?
        var isOver = false
        var sentByteCount = 0
        /// The counts of sent bytes at which connections are cut, in ascending order.
        var cuts: [Int] = []
    }

    /// The loopback address of the path, such as `127.0.0.2`.
    public let address: String
    private let port: Int
    private let target: SocketAddress
    private let seed: UInt64
    /// Reserves the port while the path does not listen.
    private let reservation: RefusingPort?
    /// Guards the state of the path and its open connections.
    private let shared = Mutex(State())

    /// - Throws: `POSIXError` if the port is in use at the address.
    init(at address: String, port: Int, to target: SocketAddress, seed: UInt64) throws {
        self.address = address
        self.port = port
        self.target = target
        self.seed = seed
        reservation = try RefusingPort.reservation(at: address, port: port)
    }

    /// The current behaviour of the path.
    public var state: PathState { shared.withLock { $0.path } }
    /// The number of connections that are open now.
    public var connectionCount: Int { shared.withLock { $0.connections.count } }
    /// The number of connections since the start.
    public var totalConnectionCount: UInt64 { shared.withLock { $0.count } }

    /// Sets the state of the path, also for open connections. It applies when the function returns.
    ///
    /// - Throws: `IOError` or `POSIXError` if another socket has taken the port meanwhile, which Linux prevents.
    public func set(_ state: PathState) async throws {
        shared.withLock { $0.path = state }
        switch state {
        case .passing:
            shared.withLock { $0.hole = nil }
            try await listen()
        case .silent:
            try await stopListening()
            let hole = try await makeHole()
            shared.withLock { $0.hole = hole }
        case .refusing:
            shared.withLock { $0.hole = nil }
            try await stopListening()
        }
        forEachConnection { $0.pathDidChange() }
    }

    /// Resets all open connections. New connections are not affected.
    public func cut() { forEachConnection { $0.reset() } }

    /// The number of bytes that clients have sent over the path since the start.
    public var sentByteCount: Int { shared.withLock { $0.sentByteCount } }

    /// Resets a connection each time ``sentByteCount`` reaches one of these counts. It resets the connection that
    /// carried the last of these bytes.
    ///
    /// - Parameter counts: Values of ``sentByteCount``. They replace earlier ones.
    public func cut(atSentByteCounts counts: [Int]) { shared.withLock { $0.cuts = counts.sorted() } }

    /// Counts bytes that a client sent. Returns whether to cut its connection.
    func countSent(_ byteCount: Int) -> Bool {
        shared.withLock { state in
            state.sentByteCount += byteCount
            let passed = state.cuts.prefix { $0 <= state.sentByteCount }.count
            state.cuts.removeFirst(passed)
            return passed > 0
        }
    }

    /// Starts to listen if the path does not listen yet. Returns the port.
    @discardableResult
    func listen() async throws -> Int {
        if let port = shared.withLock({ $0.listener })?.localAddress?.port { return port }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            // The size is set on the listener, so that accepted sockets inherit it. If it were set after the handshake,
            // it would no longer limit the TCP receive window.
            .serverChannelOption(.socketOption(.so_rcvbuf), value: DelayedConnection.socketByteCount)
            .childChannelOption(.socketOption(.so_sndbuf), value: DelayedConnection.socketByteCount)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [weak self] client in
                self?.join(client) ?? client.close()
            }
            .bind(host: address, port: port).get()
        let isOver = shared.withLock { state in
            state.listener = listener
            return state.isOver
        }
        if isOver { try await listener.close() }
        return listener.localAddress?.port ?? 0
    }

    func shutDown() async {
        shared.withLock { state in
            state.isOver = true
            state.hole = nil
        }
        try? await stopListening()
        cut()
    }

    private func stopListening() async throws {
        let listener = shared.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        // An error means that the listener is closed already.
        try? await listener?.close()
    }

    /// Creates a black hole. Tries for up to 5 s, since a child process started while the path was listening may still
    /// hold a copy of the listening socket.
    private func makeHole() async throws -> BlackHole {
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(5)
        while true {
            do {
                return try BlackHole(at: address, port: port)
            } catch let error as POSIXError where error.code == .EADDRINUSE && clock.now < limit {
                try await clock.sleep(for: .milliseconds(10))
            }
        }
    }

    private func forEachConnection(_ body: @escaping @Sendable (DelayedConnection) -> Void) {
        for (eventLoop, connection) in shared.withLock({ Array($0.connections.values) }) {
            eventLoop.execute { body(connection.value) }
        }
    }

    /// Connects a client to the server, on the client's event loop.
    private func join(_ client: any Channel) -> EventLoopFuture<Void> {
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.socketOption(.so_rcvbuf), value: DelayedConnection.socketByteCount)
            .channelOption(.socketOption(.so_sndbuf), value: DelayedConnection.socketByteCount)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(to: target)
            .flatMapThrowing { server in
                let number = self.shared.withLock { state in
                    state.count += 1
                    return state.count
                }
                let connection = DelayedConnection(client, server, over: self, seed: self.seed &+ number)
                for (side, channel) in [client, server].enumerated() {
                    try channel.pipeline.syncOperations.addHandlers([
                        SocketCutter(), DelayedSide(connection, side: side),
                    ])
                }
                let bound = NIOLoopBound(connection, eventLoop: client.eventLoop)
                self.shared.withLock {
                    $0.connections[number] = (client.eventLoop, bound)
                }
                client.closeFuture.and(server.closeFuture).whenComplete { _ in
                    self.shared.withLock { _ = $0.connections.removeValue(forKey: number) }
                }
                for channel in [client, server] { try channel.syncOptions?.setOption(.autoRead, value: true) }
            }
            .flatMapErrorThrowing { error in
                client.close(promise: nil)
                throw error
            }
    }
}
