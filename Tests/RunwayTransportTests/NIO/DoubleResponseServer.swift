import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server that responds to its first request when the test asks it to, with bytes of the test's choice, and to every request on
/// another connection with `own`.
///
/// It has a thread of its own, so that it can send while the client's event loop is blocked.
final class DoubleResponseServer: Sendable {
    /// How the pieces of the response are sent.
    enum Delivery: CaseIterable {
        /// In one write.
        case oneWrite
        /// Each in a write of its own; over TLS, in records of their own that are sent together.
        case oneFlush
        /// Each in a write of its own, one after the other.
        case manyWrites
    }

    private struct State {
        var requests: [[String]] = []
        var first: (any Channel)?
    }

    private final class Log: Sendable {
        /// Guards the targets of each connection's requests, and the connection of the first request.
        let state = Mutex(State())
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let log = Log()

    var port: Int { channel.localAddress?.port ?? 0 }
    /// The targets of the requests of each connection.
    var requests: [[String]] { log.state.withLock { $0.requests } }

    init(_ tls: NIOSSLContext?) async throws {
        channel = try await ServerBootstrap(group: group)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [log] channel in
                let number = log.state.withLock { state in
                    state.requests.append([])
                    return state.requests.count - 1
                }
                return channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    }
                    try channel.pipeline.syncOperations.addHandler(Responder(number, log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }

    /// Responds to the first request, which must be there. The future, of the server's loop, completes when the client's system has all of it.
    func respond(_ pieces: [[UInt8]], _ delivery: Delivery) -> EventLoopFuture<Void> {
        guard let channel = log.state.withLock({ $0.first }) else { preconditionFailure("there is no request") }
        let buffers = pieces.map { ByteBuffer(bytes: $0) }
        let written: EventLoopFuture<Void> =
            switch delivery {
            case .oneWrite: channel.writeAndFlush(ByteBuffer(bytes: pieces.joined()))
            case .oneFlush:
                channel.eventLoop.flatSubmit {
                    let writes = buffers.map { channel.write($0) }
                    channel.flush()
                    return EventLoopFuture.andAllSucceed(writes, on: channel.eventLoop)
                }
            case .manyWrites:
                buffers.reduce(channel.eventLoop.makeSucceededVoidFuture()) { written, buffer in
                    written.flatMap { channel.writeAndFlush(buffer) }
                }
            }
        // What is not acknowledged may not have reached the client's system yet.
        return written.flatMap { Self.acknowledgement(on: channel) }
    }

    /// Completes when all that was written to a channel is acknowledged.
    private static func acknowledgement(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.flatScheduleTask(in: .milliseconds(1)) {
            try channel.unacknowledgedByteCount == 0
                ? channel.eventLoop.makeSucceededVoidFuture() : Self.acknowledgement(on: channel)
        }.futureResult
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let number: Int
        private let log: Log

        init(_ number: Int, _ log: Log) {
            self.number = number
            self.log = log
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let target = String(buffer: unwrapInboundIn(data)).split(separator: " ").dropFirst().first ?? ""
            let channel = context.channel
            let isFirst = log.state.withLock { state in
                state.requests[number].append(String(target))
                if state.first == nil { state.first = channel }
                return state.first === channel
            }
            if isFirst { return }
            let response = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown")
            context.writeAndFlush(wrapOutboundOut(response), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension Channel {
    /// How many bytes were written and not acknowledged by the other end's system; 0 where this is not known. On the channel's loop.
    fileprivate var unacknowledgedByteCount: Int32 {
        get throws {
            #if os(Linux)
                let count = try pipeline.syncOperations.withUnsafeTransportIfAvailable(
                    of: NIOBSDSocket.Handle.self
                ) { socket in
                    var count: Int32 = 0
                    guard ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else {
                        throw IOError(errnoCode: errno, reason: "ioctl")
                    }
                    return count
                }
                return count ?? 0
            #else
                return 0
            #endif
        }
    }
}
