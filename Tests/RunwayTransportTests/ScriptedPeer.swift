import NIOCore
import NIOPosix
import Synchronization

/// A server that sends the bytes of a test's script, whatever it receives, and records what it receives.
final class ScriptedPeer: Sendable {
    /// What it says on each connection.
    struct Script: Sendable {
        /// Said before anything is heard.
        var greeting: [UInt8] = []
        /// Said to each part that is heard, in turn.
        var replies: [[UInt8]] = []
        /// What follows the last reply.
        var ending = Ending.nothing
    }

    enum Ending: Sendable {
        case nothing
        case close
        /// The bytes over and over, until the client closes.
        case repeating([UInt8])
    }

    private struct State {
        var received: [UInt8] = []
        var opened = 0
        var closed = 0
    }

    private final class Log: Sendable {
        /// Guards what was heard, and how many came and went.
        let state = Mutex(State())
    }

    let port: Int
    private let channel: any Channel
    private let log: Log

    /// What was heard, of all connections.
    var received: [UInt8] { log.state.withLock { $0.received } }
    /// The connections that were made to it.
    var connectionCount: Int { log.state.withLock { $0.opened } }
    /// Whether there was a client, and all that there were are gone: nothing more can come of them.
    var isAbandoned: Bool { log.state.withLock { $0.opened > 0 && $0.opened == $0.closed } }

    init(_ script: Script) async throws {
        let log = Log()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                log.state.withLock { $0.opened += 1 }
                channel.closeFuture.whenComplete { _ in log.state.withLock { $0.closed += 1 } }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Speaker(script, log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.log = log
        port = channel.localAddress?.port ?? 0
    }

    func close() async throws { try await channel.close() }

    private final class Speaker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var script: Script
        private let log: Log

        init(_ script: Script, _ log: Log) {
            self.script = script
            self.log = log
        }

        func channelActive(context: ChannelHandlerContext) {
            let greeting = ByteBuffer(bytes: script.greeting)
            if greeting.readableBytes > 0 { context.channel.writeAndFlush(greeting, promise: nil) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            log.state.withLock { $0.received += bytes.readableBytesView }
            guard !script.replies.isEmpty else { return }
            let channel = context.channel
            channel.writeAndFlush(ByteBuffer(bytes: script.replies.removeFirst()), promise: nil)
            guard script.replies.isEmpty else { return }
            switch script.ending {
            case .nothing: break
            case .close: channel.close(promise: nil)
            case .repeating(let bytes): Self.say(ByteBuffer(bytes: bytes), on: channel)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private static func say(_ bytes: ByteBuffer, on channel: any Channel) {
            channel.writeAndFlush(bytes).whenSuccess {
                channel.eventLoop.execute { say(bytes, on: channel) }
            }
        }
    }
}

/// Runs `body` with a server of bytes.
func withScriptedPeer<Value>(
    _ script: ScriptedPeer.Script, _ body: (ScriptedPeer) async throws -> Value
) async throws -> Value {
    let peer = try await ScriptedPeer(script)
    do {
        let value = try await body(peer)
        try await peer.close()
        return value
    } catch {
        try? await peer.close()
        throw error
    }
}
