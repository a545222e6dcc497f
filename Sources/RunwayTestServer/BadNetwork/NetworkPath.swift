import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// One path of a ``BadNetwork``: an address of the loopback that leads to the server, with conditions that a test sets.
public final class NetworkPath: Sendable {
    private struct State {
        var path = PathState.passing(PathConditions())
        var connections: [UInt64: (eventLoop: any EventLoop, connection: NIOLoopBound<DelayedConnection>)] = [:]
        var count: UInt64 = 0
        var listener: (any Channel)?
        var hole: BlackHole?
        var isOver = false
        var sentByteCount = 0
        /// After how many sent bytes connections are cut, in ascending order.
        var cuts: [Int] = []
    }

    /// The address, such as `127.0.0.2`.
    public let address: String
    private let port: Int
    private let target: SocketAddress
    private let seed: UInt64
    /// Reserves the port while the path does not listen.
    private let reservation: RefusingPort?
    /// Guards how the path behaves, and its open connections.
    private let shared = Mutex(State())

    /// - Throws: `POSIXError` if the port is in use at the address.
    init(at address: String, port: Int, to target: SocketAddress, seed: UInt64) throws {
        self.address = address
        self.port = port
        self.target = target
        self.seed = seed
        reservation = try RefusingPort.reservation(at: address, port: port)
    }

    /// The behaviour of the path.
    public var state: PathState { shared.withLock { $0.path } }
    /// The number of open connections.
    public var connectionCount: Int { shared.withLock { $0.connections.count } }
    /// The number of connections that were made so far.
    public var totalConnectionCount: UInt64 { shared.withLock { $0.count } }

    /// Sets the conditions of the path, including open connections. They apply when the function returns.
    ///
    /// - Throws: `IOError` or `POSIXError` if the port was taken meanwhile. On Linux the system does not assign it to
    ///   another socket.
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

    /// Resets all open connections; new ones are made as before.
    public func cut() { forEachConnection { $0.reset() } }

    /// The number of bytes that clients sent over the path so far.
    public var sentByteCount: Int { shared.withLock { $0.sentByteCount } }

    /// Resets connections after given numbers of bytes from clients. Each time that the clients have sent that many
    /// bytes in all, the connection that carried the last of them is reset.
    ///
    /// - Parameter counts: Counts of ``sentByteCount``. They replace those that were set before.
    public func cut(atSentByteCounts counts: [Int]) { shared.withLock { $0.cuts = counts.sorted() } }

    /// Counts bytes that a client sent; returns whether its connection is to be cut.
    func countSent(_ byteCount: Int) -> Bool {
        shared.withLock { state in
            state.sentByteCount += byteCount
            let passed = state.cuts.prefix { $0 <= state.sentByteCount }.count
            state.cuts.removeFirst(passed)
            return passed > 0
        }
    }

    /// Starts to listen, unless it does already; returns the port.
    @discardableResult
    func listen() async throws -> Int {
        if let port = shared.withLock({ $0.listener })?.localAddress?.port { return port }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            // Accepted sockets inherit it; after the handshake it would no longer bound the window.
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
        // A listener that is closed already is in the desired state.
        try? await listener?.close()
    }

    /// Makes a black hole, and tries it for up to 5 s: a program that was started while the path listened may hold a
    /// copy of the listening socket for as long as it runs.
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

    /// Connects a client to the server, on the client's loop.
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
