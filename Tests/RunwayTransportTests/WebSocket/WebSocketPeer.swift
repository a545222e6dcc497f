import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization

/// A server of a test's script that accepts every handshake, records the frames of its client, and sends whatever the test wants.
///
/// The acceptance is made by swift-crypto, and not by what is tested.
final class WebSocketPeer: Sendable {
    struct Script: Sendable {
        /// Replaces the response to the handshake; `%` stands for the acceptance. Each request takes the next, the last one stays.
        var responses = [
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %\r\n\r\n"
        ]
        /// Sent in the same write as the response.
        var first: [UInt8] = []
        /// Whether the peer responds to the client's close frame and closes the channel.
        var closes = true
    }

    /// A frame of the client, unmasked.
    struct Frame: Sendable, Equatable {
        var opcode: WebSocketOpcode
        var payload: [UInt8]
        var isMasked: Bool
        var isCompressed: Bool
    }

    private struct State {
        var requests: [String] = []
        var channels: [any Channel] = []
        var script: Script
    }

    let port: Int
    /// The frames of all clients.
    let frames: AsyncStream<Frame>
    /// Finishes one element for each connection that ended.
    let ends: AsyncStream<Void>
    private let channel: any Channel
    private let log: Log

    /// The heads of the requests.
    var requests: [String] { log.state.withLock { $0.requests } }

    private final class Log: Sendable {
        /// Guards the script and what was heard.
        let state: Mutex<State>
        let frames: AsyncStream<Frame>.Continuation
        let ends: AsyncStream<Void>.Continuation

        init(_ script: Script, _ frames: AsyncStream<Frame>.Continuation, _ ends: AsyncStream<Void>.Continuation) {
            state = Mutex(State(script: script))
            self.frames = frames
            self.ends = ends
        }
    }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - script: What it does.
    ///   - certificate: Its certificate, over TLS; `nil` for a server without TLS.
    init(_ script: Script = Script(), certificate: TestAuthority.Server? = nil) async throws {
        let context = try certificate.map { certificate in
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.chainPEM.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(certificate.keyPEM.utf8), format: .pem)
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
        }
        let (frames, frameContinuation) = AsyncStream.makeStream(of: Frame.self)
        let (ends, endContinuation) = AsyncStream.makeStream(of: Void.self)
        let log = Log(script, frameContinuation, endContinuation)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.closeFuture.whenComplete { _ in log.ends.yield() }
                return channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(Greeter(log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        (self.frames, self.ends, self.log) = (frames, ends, log)
        port = channel.localAddress?.port ?? 0
    }

    /// Sends bytes on the connection that was made last.
    func send(_ bytes: [UInt8]) async throws {
        let channel = log.state.withLock { $0.channels.last }
        try await channel?.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    /// Closes the connection that was made last.
    func cut() async throws { try await log.state.withLock { $0.channels.last }?.close().get() }

    func close() async throws { try await channel.close() }

    /// Reads the request, responds, and makes way for frames.
    private final class Greeter: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private let log: Log
        private var head = ""

        init(_ log: Log) { self.log = log }

        // A client that trusts nobody ends TLS with an alert.
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            head += String(buffer: unwrapInboundIn(data))
            guard head.hasSuffix("\r\n\r\n") else { return }
            let key = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }
            let text = (key?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "")
            let digest = Insecure.SHA1.hash(data: Data((text + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
            let channel = context.channel
            let request = head
            let (response, first, closes) = log.state.withLock { state in
                state.requests.append(request)
                state.channels.append(channel)
                let response =
                    state.script.responses.count > 1 ? state.script.responses.removeFirst() : state.script.responses[0]
                return (response, state.script.first, state.script.closes)
            }
            let bytes = Array(response.replacing("%", with: Data(digest).base64EncodedString()).utf8) + first
            do {
                try channel.pipeline.syncOperations.addHandlers(
                    ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 1 << 26)), Recorder(log, closes: closes))
                channel.pipeline.syncOperations.removeHandler(self, promise: nil)
            } catch {
                channel.close(promise: nil)
            }
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            if !response.hasPrefix("HTTP/1.1 101") { channel.close(promise: nil) }
        }
    }

    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame

        private let log: Log
        private let closes: Bool

        init(_ log: Log, closes: Bool) { (self.log, self.closes) = (log, closes) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            let payload = Array(frame.unmaskedData.readableBytesView)
            log.frames.yield(
                Frame(opcode: frame.opcode, payload: payload, isMasked: frame.maskKey != nil, isCompressed: frame.rsv1))
            guard frame.opcode == .connectionClose, closes else { return }
            let response = ByteBuffer(bytes: [0x88, UInt8(min(payload.count, 2))] + payload.prefix(2))
            let channel = context.channel
            channel.writeAndFlush(response).whenComplete { _ in channel.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// Runs `body` with a server of frames.
func withWebSocketPeer<Value>(
    _ script: WebSocketPeer.Script = .init(), certificate: TestAuthority.Server? = nil,
    _ body: (WebSocketPeer) async throws -> Value
) async throws -> Value {
    let peer = try await WebSocketPeer(script, certificate: certificate)
    do {
        let value = try await body(peer)
        try await peer.close()
        return value
    } catch {
        try? await peer.close()
        throw error
    }
}
