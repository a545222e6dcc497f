import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization

/// A server that speaks HTTP/2 by hand: for every frame of a client it does what a script says, right or wrong.
final class RawHTTP2Server: Sendable {
    /// What the server does when a connection opens (`nil`) and for every frame that comes.
    typealias Script = @Sendable (RawConnection, RawFrame?) -> Void

    private struct Waiter {
        let isMet: @Sendable (RawHTTP2Server) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var frames: [(connection: Int, frame: RawFrame)] = []
        var requests: [(connection: Int, path: String)] = []
        var connectionCount = 0
        var ended: Set<Int> = []
        var waiters: [Int: Waiter] = [:]
        var waiterCount = 0
    }

    private let certificatePEM: String
    private let channel: any Channel
    private let state = Mutex(State())

    var baseURL: String { "https://localhost:\(port)" }
    var port: Int { channel.localAddress?.port ?? 0 }
    var connectionCount: Int { state.withLock(\.connectionCount) }
    /// How many connections have ended.
    var endCount: Int { state.withLock(\.ended.count) }

    /// Whether a connection, counted from 1, has ended.
    func hasEnded(_ connection: Int) -> Bool { state.withLock { $0.ended.contains(connection) } }

    /// What came on a connection, counted from 1, or on all.
    func frames(of connection: Int? = nil) -> [RawFrame] {
        state.withLock { $0.frames.filter { connection == nil || $0.connection == connection }.map(\.frame) }
    }

    /// What was asked for, on which connection, counted from 1.
    var requests: [(connection: Int, path: String)] { state.withLock(\.requests) }

    /// A layer that does nothing but send, whose calls go here.
    func layer(
        _ wire: WireSettings = WireSettings(), idleTimeout: Duration = .seconds(300),
        sinks: [any EventSink] = []
    ) throws -> NetworkLayer {
        let configuration = configuration(wire, idleTimeout: idleTimeout)
        return NetworkLayer(to: baseURL, over: try NIOTransport(configuration: configuration), sinks: sinks)
    }

    /// What a transport needs to call it.
    func configuration(
        _ wire: WireSettings = WireSettings(), idleTimeout: Duration = .seconds(300)
    ) -> TransportConfiguration {
        var configuration = TransportConfiguration(
            trust: .certificates(pem: [certificatePEM]), connectTimeout: .seconds(300), idleTimeout: idleTimeout)
        configuration.wire = wire
        return configuration
    }

    /// Runs a server for as long as `body` does.
    ///
    /// - Parameter versions: What it accepts. Over HTTP/1.1 it responds to every request with `over HTTP/1.1`. The default is HTTP/2 alone.
    static func run(
        accepting versions: [String] = ["h2"], _ script: @escaping Script,
        _ body: (RawHTTP2Server) async throws -> Void
    ) async throws {
        let certificate = try TestCertificate()
        var tls = try certificate.tls
        tls.applicationProtocols = versions
        let context = try NIOSSLContext(configuration: tls)
        let holder = Holder()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // A connection that is not read takes few bytes, whatever the system's limit of a buffer is.
            .serverChannelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context),
                        RawConnection(script, holder, awaitsPreface: versions.count > 1))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = RawHTTP2Server(certificate.certificatePEM, channel)
        holder.server.withLock { $0 = server }
        do {
            try await body(server)
        } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    private init(_ certificatePEM: String, _ channel: any Channel) {
        self.certificatePEM = certificatePEM
        self.channel = channel
    }

    /// Returns once a condition holds, which is looked at whenever something came or ended, or the task is cancelled.
    func wait(until isMet: @escaping @Sendable (RawHTTP2Server) -> Bool) async {
        let number = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiters[number] = Waiter(isMet: isMet, continuation: continuation) }
                if Task.isCancelled { stopWaiting(number) } else { wakeWaiters() }
            }
        } onCancel: {
            stopWaiting(number)
        }
    }

    private func stopWaiting(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
    }

    /// Returns once so many frames of a kind came.
    func wait(for kind: RawFrame.Kind, count: Int = 1) async {
        await wait { $0.frames().count { $0.is(kind) } >= count }
    }

    private func wakeWaiters() {
        for (number, waiter) in state.withLock(\.waiters) where waiter.isMet(self) {
            stopWaiting(number)
        }
    }

    fileprivate func opened() -> Int {
        state.withLock { state in
            state.connectionCount += 1
            return state.connectionCount
        }
    }

    fileprivate func asked(for path: String, on connection: Int) {
        state.withLock { $0.requests.append((connection, path)) }
    }

    fileprivate func received(_ frame: RawFrame, on connection: Int) {
        state.withLock { $0.frames.append((connection, frame)) }
        wakeWaiters()
    }

    fileprivate func ended(_ connection: Int) {
        state.withLock { _ = $0.ended.insert(connection) }
        wakeWaiters()
    }
}

/// Where connections find their server, which is made after the channel that makes them.
final class Holder: Sendable {
    let server = Mutex<RawHTTP2Server?>(nil)
}

/// One connection of a ``RawHTTP2Server``, on its event loop.
final class RawConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Counted from 1.
    private(set) var number = 0
    /// The streams on which requests began, in order.
    private(set) var streams: [Int] = []
    /// The head of the request on each of them.
    private(set) var heads: [Int: HPACKHeaders] = [:]
    /// What was asked for on each of them.
    var paths: [Int: String] { heads.compactMapValues { $0.first(name: ":path") } }
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private let script: RawHTTP2Server.Script
    private let holder: Holder
    private var server: RawHTTP2Server? { holder.server.withLock { $0 } }
    private var context: ChannelHandlerContext?
    private var bytes: [UInt8] = []
    private var hasPreface = false

    /// Whether only the preface of the client shows that it speaks HTTP/2.
    private let awaitsPreface: Bool

    init(_ script: @escaping RawHTTP2Server.Script, _ holder: Holder, awaitsPreface: Bool) {
        self.script = script
        self.holder = holder
        self.awaitsPreface = awaitsPreface
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        number = server?.opened() ?? 0
        if !awaitsPreface { script(self, nil) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
        let isHTTP2 = hasPreface || bytes.starts(with: Array("PRI".utf8).prefix(bytes.count))
        if awaitsPreface, !isHTTP2 { return respondOverHTTP1() }
        if !hasPreface {
            guard bytes.count >= 24 else { return }
            bytes.removeFirst(24)
            hasPreface = true
            if awaitsPreface { script(self, nil) }
        }
        while let frame = RawFrame(from: &bytes) {
            if frame.is(.headers) { noteRequest(frame) }
            server?.received(frame, on: number)
            script(self, frame)
        }
    }

    /// Responds to a request without a body.
    private func respondOverHTTP1() {
        guard bytes.suffix(4) == Array("\r\n\r\n".utf8)[...] else { return }
        let target = String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
        bytes = []
        server?.asked(for: String(target), on: number)
        write(Array("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nover HTTP/1.1".utf8))
    }

    private func noteRequest(_ frame: RawFrame) {
        streams.append(frame.stream)
        var block = ByteBuffer(bytes: frame.payload)
        guard let head = try? decoder.decodeHeaders(from: &block), let path = head.first(name: ":path") else { return }
        heads[frame.stream] = head
        server?.asked(for: path, on: number)
    }

    func channelInactive(context: ChannelHandlerContext) {
        server?.ended(number)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func write(_ frames: RawFrame...) { write(frames.flatMap(\.bytes)) }

    func write(_ bytes: [UInt8]) {
        context?.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    func close() { context?.close(promise: nil) }

    /// Reads nothing more, until the automatic reading of the channel that is returned is switched on again.
    func pauseReading() -> (any Channel)? {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: false)
        return context?.channel
    }
}
