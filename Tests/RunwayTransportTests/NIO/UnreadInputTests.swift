import Dispatch
import HTTPTypes
import NIOCore
import NIOPosix
import NIOSSL
import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// Bytes that wait in the system's buffer when a request is to be written are no response to it (RFC 9112 §9.2).
@Suite(.timeLimit(.minutes(10)))
struct UnreadInputTests {
    private static func response(_ text: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)
    }

    /// A response comes on an idle connection while the client's event loop does not read, and then a request is sent.
    @Test(arguments: ["http", "https"], [HTTPRequest.Method.get, .post])
    func responseBeforeARequestIsNotItsOwn(scheme: String, method: HTTPRequest.Method) async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        let tls = scheme == "https" ? try NIOSSLContext(configuration: test.certificate.tls) : nil
        let server = try await DoubleResponseServer(tls)
        let transport = NIOTransport(
            configuration: TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 1),
            dialer: test.dialer)
        let host = tls == nil ? "127.0.0.1" : dialHost
        let network = NetworkLayer(to: "\(scheme)://\(host):\(server.port)", over: transport)
        let origin = Origin(scheme: scheme, host: host, port: server.port)
        let pool = try #require(transport.pools.enter(origin))
        let first = Task { try await network.call(Fetch<GET>("a")).text }
        try await waitUntil { server.requests == [["/a"]] }
        try await server.respond([Self.response("asked")], .oneWrite).get()
        #expect(try await first.value == "asked")

        let request = Request(
            head: HTTPRequest(method: method, scheme: scheme, authority: "\(host):\(server.port)", path: "/b"))
        let exchange = Exchange(
            request, try WireRequestHead(request, isTransparent: false), in: pool, isLongLived: false
        ) { _ in }
        let outcome = await withCheckedContinuation { continuation in
            pool.eventLoop.execute {
                let isThere = DispatchSemaphore(value: 0)
                server.respond([Self.response("ghost")], .oneWrite).whenComplete { _ in isThere.signal() }
                isThere.wait()
                // It is submitted in the same turn of the loop, before anything is read.
                exchange.begin(continuation)
            }
        }
        guard case .whole(let bytes) = try outcome.response.get().body else {
            Issue.record("the response is a stream")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == "own" && outcome.wire.moveCount == 1)
        #expect(server.requests == [["/a"], ["/b"]])
        transport.pools.leave(origin)
        try await server.close()
    }

    /// A peer and a channel to it that reads only when the test asks it to.
    private func withUnreadChannel(
        _ greeting: String, _ body: (any Channel, Errors) async throws -> Void
    ) async throws {
        try await withScriptedPeer(ScriptedPeer.Script(greeting: Array(greeting.utf8))) { peer in
            let errors = Errors()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(errors.handler)
                    }
                }
                .connect(host: "127.0.0.1", port: peer.port).get()
            try await body(channel, errors)
            try? await channel.close()
        }
    }

    @Test func writeWaitsUntilInputIsRead() async throws {
        try await withUnreadChannel("hello") { channel, errors in
            try await waitUntil { try await channel.isReadable }
            let readCount = try await channel.eventLoop.flatSubmit {
                let written = channel.eventLoop.makePromise(of: Int.self)
                channel.afterReading { written.succeed(errors.readCount.withLock { $0 }) }
                channel.read()
                return written.futureResult
            }.get()
            #expect(readCount == 1)
        }
    }

    @Test func unreadInputEndsTheWaitWithAnError() async throws {
        try await withUnreadChannel("hello") { channel, errors in
            try await waitUntil { try await channel.isReadable }
            channel.eventLoop.execute { channel.afterReading { Issue.record("it was written") } }
            try await waitUntil { errors.seen.withLock { $0 } == [.unsolicited] }
        }
    }
}

/// What a channel reports.
private final class Errors: Sendable {
    /// Guards the errors that were caught.
    let seen = Mutex<[WireError]>([])
    /// Guards how often something was read.
    let readCount = Mutex(0)

    var handler: Handler { Handler(self) }

    final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let errors: Errors

        init(_ errors: Errors) { self.errors = errors }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { errors.readCount.withLock { $0 += 1 } }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if let error = error as? WireError { errors.seen.withLock { $0.append(error) } }
        }
    }
}

extension Channel {
    /// Whether input waits to be read.
    fileprivate var isReadable: Bool {
        get async throws {
            try await eventLoop.submit { self.hasUnreadInput }.get()
        }
    }
}
