import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// A client that sends given bytes and returns the received bytes, on a socket of its own.
final class RawClient {
    /// What came from the other side.
    private enum Event: Sendable {
        case bytes([UInt8])
        case end(End)
    }

    /// How the other side ended.
    enum End: Sendable, Equatable {
        /// It sent FIN, with TLS after a `close_notify`.
        case finished
        /// It sent FIN without the `close_notify` of TLS.
        case truncated
        case reset
    }

    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let events: AsyncStream<Event>.Continuation
        private var hasEnded = false

        init(events: AsyncStream<Event>.Continuation) {
            self.events = events
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            events.yield(.bytes(Array(buffer: unwrapInboundIn(data))))
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .inputClosed = event as? ChannelEvent { end(.finished) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if let error = error as? IOError, error.errnoCode == ECONNRESET {
                end(.reset)
            } else if let error = error as? NIOSSLError, error == .uncleanShutdown {
                end(.truncated)
            }
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            end(.finished)
            events.finish()
        }

        private func end(_ end: End) {
            if !hasEnded { events.yield(.end(end)) }
            hasEnded = true
        }
    }

    private let channel: any Channel
    private var events: AsyncStream<Event>.Iterator
    private var unread: [UInt8] = []
    private(set) var end: End?

    private init(channel: any Channel, events: AsyncStream<Event>) {
        self.channel = channel
        self.events = events.makeAsyncIterator()
    }

    /// Connects to a port of 127.0.0.1; with a server name, by TLS, trusting whatever certificate is shown.
    static func connect(to port: Int, serverName: String? = nil) async throws -> RawClient {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let serverName {
                        var configuration = TLSConfiguration.makeClientConfiguration()
                        configuration.certificateVerification = .none
                        let handler = try NIOSSLClientHandler(
                            context: NIOSSLContext(configuration: configuration),
                            serverHostname: serverName
                        )
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(Receiver(events: continuation))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return RawClient(channel: channel, events: stream)
    }

    /// Connects to an origin that drops the connection and returns how it did; nothing may come before.
    ///
    /// A reset that is faster than the client's system may end the connecting itself.
    static func connectToBeDropped(by port: Int, serverName: String? = nil) async throws -> End? {
        do {
            let client = try await connect(to: port, serverName: serverName)
            let text = try await client.readToEnd()
            return text.isEmpty ? client.end : nil
        } catch let error as NIOConnectionError {
            for failure in error.connectionErrors {
                guard let reason = failure.error as? IOError, reason.errnoCode == ECONNRESET else { throw error }
            }
            return .reset
        }
    }

    func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    /// Sends a GET for `target` on a connection that stays alive.
    func get(_ target: String) async throws {
        try await send("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n")
    }

    /// Reads up to and with `mark`; throws when the other side ends before.
    func read(through mark: String) async throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let range = unread.firstRange(of: mark) {
                defer { unread.removeFirst(range.upperBound) }
                return String(decoding: unread[..<range.upperBound], as: UTF8.self)
            }
            guard try await receive() else { throw EndedEarly(text: String(decoding: unread, as: UTF8.self)) }
        }
    }

    /// Reads `count` bytes; throws when the other side ends before.
    func read(bytes count: Int) async throws -> String {
        while unread.count < count {
            guard try await receive() else { throw EndedEarly(text: String(decoding: unread, as: UTF8.self)) }
        }
        defer { unread.removeFirst(count) }
        return String(decoding: unread[..<count], as: UTF8.self)
    }

    /// Reads until the other side ends and returns everything that was not read before.
    func readToEnd() async throws -> String {
        while try await receive() {}
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }

    /// Sends `text` as fast as the other side takes it, without waiting for that.
    func sendLater(_ text: String) {
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }

    /// Closes the connection, unless the other side did that already.
    func close() async throws {
        do {
            try await channel.close().get()
        } catch ChannelError.alreadyClosed {
            return
        } catch NIOSSLError.uncleanShutdown {
            return
        }
    }

    private func receive() async throws -> Bool {
        guard end == nil, let event = await events.next(isolation: #isolation) else { return false }
        switch event {
        case .bytes(let bytes):
            unread += bytes
            return true
        case .end(let end):
            self.end = end
            return false
        }
    }
}

/// The other side ended before a test had read what it wanted.
struct EndedEarly: Error {
    let text: String
}
