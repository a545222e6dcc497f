import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// One address, or those that the system looks up.
@Suite(.timeLimit(.minutes(10)))
struct DialerTests {
    @Test func dialLooksUpConnectsAndProvesTheHost() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        try await withScriptedOrigin(tls: test.certificate.tls) { origin in
            let connection = try await test.dial(port: origin.port)

            #expect(connection.applicationProtocol == "http/1.1")
            #expect(connection.wire.tlsVersion == "TLSv1.3")
            #expect(connection.ip == "127.0.0.1")
            let times = connection.wire
            #expect(times.dns != nil && times.tcp != nil && times.tls != nil)
            try await connection.close()
        }
    }

    @Test func aPlainHostNeedsNoTLS() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        try await withScriptedOrigin { origin in
            let connection = try await test.dial(port: origin.port, scheme: "http")
            #expect(connection.wire.tlsVersion == nil)
            #expect(connection.wire.tls == nil)
            try await connection.close()
        }
    }

    @Test func theNextAddressIsDialledAfterARefusal() async throws {
        let test = try TestDialer(resolved: ["127.0.0.9", "127.0.0.1"])
        try await withScriptedOrigin(tls: test.certificate.tls) { origin in
            let connection = try await test.dial(port: origin.port)
            #expect(connection.ip == "127.0.0.1")
            try await connection.close()
        }
    }

    /// On a network without IPv4 the lookup leads to another address.
    @Test func ipv4LiteralThatFailsIsLookedUp() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        try await withScriptedOrigin { origin in
            let dial = test.dialer.start(
                Origin(scheme: "http", host: "127.0.0.9", port: origin.port),
                on: MultiThreadedEventLoopGroup.singleton.next(), deadline: .now() + .seconds(60))
            let connection = try await dial.connection.get()
            #expect(connection.ip == "127.0.0.1")
            try await connection.close()
        }
    }

    @Test(arguments: [nil, ["127.0.0.8"]])
    func failedListedIPv4AddressIsResolved(besides addressesOfTheName: [String]?) async throws {
        var names = ["127.0.0.9": ["127.0.0.1"]]
        names[dialHost] = addressesOfTheName
        let test = try TestDialer(listed: ["127.0.0.9"], resolvedNames: names)
        try await withScriptedOrigin(tls: test.certificate.tls) { origin in
            let connection = try await test.dial(port: origin.port)
            #expect(connection.ip == "127.0.0.1")
            try await connection.close()
        }
    }

    @Test func refusalNamesTheAddressAndSaysUnsent() async throws {
        let port = try RefusingPort()
        let error = try await TestDialer(resolved: ["127.0.0.1"]).failure(port: Int(port.number))
        #expect(error.kind == .noNetwork)
        #expect(error.sending == .notSent)
        #expect(error.detail == "No connection to dial.test could be made: 127.0.0.1: Connection refused.")
    }

    @Test func anUnknownNameIsReported() async throws {
        let error = try await TestDialer().failure(port: 443)
        #expect(error.kind == .noNetwork)
        #expect(error.detail.contains("its name could not be looked up (nobody knows it)"))
    }

    @Test func aCertificateForAnotherNameIsNotTrusted() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"], certificate: TestCertificate(for: "other.test"))
        try await withScriptedOrigin(tls: test.certificate.tls) { origin in
            let error = try await test.failure(port: origin.port)
            #expect(error.kind == .notTrusted)
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.requestCount == 0)
        }
    }

    @Test func originThatCannotBeDialledIsAMistake() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        #expect(try await test.failure(port: 0).kind == .invalidConfiguration)
        #expect(try await test.failure(port: 443, scheme: "ftp").kind == .invalidConfiguration)
    }

    @Test func deadlineEndsADialOfASilentHost() async throws {
        let test = try TestDialer(resolved: ["127.0.0.2"])
        try await withBadNetwork(1, test.certificate) { network, _ in
            try await network.paths[0].set(.silent)
            let error = try await test.failure(port: network.port, within: .milliseconds(300))
            #expect(error.kind == .timedOut)
            #expect(error.sending == .notSent)
        }
    }

    @Test func callingADialOffClosesItsSockets() async throws {
        let test = try TestDialer(resolved: ["127.0.0.2"])
        try await withBadNetwork(1, test.certificate) { network, _ in
            // The connection is there, and its handshake goes nowhere.
            try await network.paths[0].set(.passing(PathConditions(roundTrip: .seconds(3600))))
            let dial = test.start(port: network.port)
            try await waitUntil("the connection") { network.paths[0].connectionCount == 1 }
            dial.cancel()
            let error = try await #require(throws: DialError.self) { try await dial.connection.get() }
            #expect(NetworkError(transport: error, from: nil).kind == .cancelled)
            network.paths[0].cut()
            try await waitUntil("the end of the connection") { network.paths[0].connectionCount == 0 }
        }
    }

    @Test func bytesRightAfterTheHandshakeAreNotLost() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        let server = try await TalkativeServer(test.certificate, byteCount: 300_000)
        let connection = try await test.dial(port: server.port)
        // Long enough for everything to have come that the system takes without being read.
        try await waitUntil("the server to have written") { server.hasWritten }
        let collector = ByteCollector(on: connection.channel.eventLoop)
        try await connection.channel.eventLoop.submit {
            try connection.channel.pipeline.syncOperations.addHandler(collector.makeHandler())
            connection.takeOver()
        }.get()
        let bytes = try await collector.bytes.get()
        #expect(bytes.readableBytes == 300_000)
        #expect(bytes.readableBytesView.allSatisfy { $0 == UInt8(ascii: "x") })
        try await server.close()
    }
}

/// A TLS server that speaks first, as HTTP/2's do, and then closes.
private final class TalkativeServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let written: Flag

    init(_ certificate: TestCertificate, byteCount: Int) async throws {
        let (written, loops) = (Flag(), MultiThreadedEventLoopGroup.singleton)
        self.written = written
        let context = try NIOSSLContext(configuration: certificate.tls)
        channel = try await ServerBootstrap(group: loops)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), Talker(byteCount: byteCount, written: written),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    var hasWritten: Bool { written.isSet }

    func close() async throws { try await channel.close() }

    private final class Talker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let byteCount: Int
        let written: Flag

        init(byteCount: Int, written: Flag) {
            self.byteCount = byteCount
            self.written = written
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case .handshakeCompleted? = event as? TLSUserEvent else { return }
            context.writeAndFlush(
                wrapOutboundOut(ByteBuffer(repeating: UInt8(ascii: "x"), count: byteCount)), promise: nil)
            context.close(promise: nil)
            written.set()
        }
    }
}

/// Something has happened.
private final class Flag: Sendable {
    private let state = Atomic(false)
    var isSet: Bool { state.load(ordering: .relaxed) }
    func set() { state.store(true, ordering: .relaxed) }
}

/// Collects what a channel receives until it ends.
private struct ByteCollector: Sendable {
    let bytes: EventLoopFuture<ByteBuffer>
    private let promise: EventLoopPromise<ByteBuffer>

    init(on eventLoop: any EventLoop) {
        promise = eventLoop.makePromise()
        bytes = promise.futureResult
    }

    func makeHandler() -> some ChannelInboundHandler { Handler(promise) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var bytes = ByteBuffer()
        private let promise: EventLoopPromise<ByteBuffer>

        init(_ promise: EventLoopPromise<ByteBuffer>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes.writeImmutableBuffer(unwrapInboundIn(data))
        }
        func channelInactive(context: ChannelHandlerContext) { promise.succeed(bytes) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }
}
