import NIOCore
import NIOPosix
import NIOSSL
import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// A server that sends a response with the end of its handshake, before any request (RFC 9112 §9.2).
@Suite(.timeLimit(.minutes(10)))
struct UnsolicitedResponseTests {
    @Test func bytesWithTheHandshakeAreNotAResponse() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        let server = try await HastyServer(test.certificate, hastyConnections: 1)
        let layer = NetworkLayer(
            to: "https://\(dialHost):\(server.port)",
            over: NIOTransport(
                configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer))
        let error = try await layer.failure(of: Fetch<GET>("a"))
        #expect(error.kind == .invalidResponse && error.sending == .notSent, "\(error)")
        #expect(error.detail.hasSuffix("sent bytes before any request, which could be taken for a response."))
        // One connection was tried, and the request was not sent on it.
        #expect(server.connectionCount == 1)
        #expect(try await layer.call(Fetch<GET>("a")).text == "asked")
        #expect(server.connectionCount == 2)
        try await server.close()
    }
}

/// A TLS server of version 1.2, whose handshake ends with its own word, so that a response can go out together with that.
private final class HastyServer: Sendable {
    private final class Counter: Sendable {
        let value = Mutex(0)

        func next() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }

    private let channel: any Channel
    private let counter: Counter

    var port: Int { channel.localAddress?.port ?? 0 }
    var connectionCount: Int { counter.value.withLock { $0 } }

    init(_ certificate: TestCertificate, hastyConnections: Int) async throws {
        var tls = try certificate.tls
        tls.maximumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: tls)
        let counter = Counter()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let number = counter.next()
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        WritesTogether(), NIOSSLServerHandler(context: context),
                        RespondingHandler(isHasty: number <= hastyConnections))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.counter = counter
    }

    func close() async throws { try await channel.close() }
}

/// Passes on what is written when all that was read is processed, in one piece.
private final class WritesTogether: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private var isReading = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = true
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        isReading = false
        context.flush()
    }

    func flush(context: ChannelHandlerContext) {
        if !isReading { context.flush() }
    }
}

/// Responds to every request, and to one that was never made.
private final class RespondingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let isHasty: Bool

    init(isHasty: Bool) { self.isHasty = isHasty }

    func channelActive(context: ChannelHandlerContext) {
        // TLS sends it as soon as it can.
        if isHasty { respond("unasked", context) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { respond("asked", context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func respond(_ text: String, _ context: ChannelHandlerContext) {
        let bytes = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }
}
