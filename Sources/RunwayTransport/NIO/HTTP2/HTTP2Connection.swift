import NIOCore
import NIOHPACK
import NIOHTTP2
import Runway

/// An HTTP/2 connection that carries many exchanges at once, each on its own stream.
///
/// The connection reads and writes frames through NIO's handler, which validates them. It does not use NIO's channel
/// per stream, which would cost more than everything else. It is the last handler of its channel, and runs on the
/// channel's event loop, as its parts do.
///
/// The connection handles events of the whole connection. ``HTTP2Streams`` and ``HTTP2Tunnels`` hold the streams,
/// ``HTTP2Sender`` writes, and ``HTTP2ReceiveWindows`` performs flow control of received bytes.
final class HTTP2Connection: ChannelInboundHandler, WireConnection {
    typealias InboundIn = HTTP2Frame

    /// The maximum number of streams before the server's settings arrive. RFC 9113 §6.5.2 recommends that servers
    /// permit at least this number.
    private static let limitBeforeSettings = 100
    /// The maximum stream number.
    private static let lastStreamNumber = Int(Int32.max)

    let id: ConnectionID
    let facts: ConnectionFacts
    let initialLimit: Int
    private let pool: OriginPool
    private let sender: HTTP2Sender
    private let windows: HTTP2ReceiveWindows
    private let streams: HTTP2Streams
    private let tunnels: HTTP2Tunnels
    private var settings = HTTP2ServerSettings()
    private var liveness: HTTP2Liveness
    private let silenceLimits: SilenceLimits
    private let wakeUp: WakeUp
    private var nextStreamNumber = 1
    /// Whether no further stream may be opened.
    private var isDraining = false
    /// The error code in the server's GOAWAY, which may be `noError`; `nil` before a GOAWAY.
    private var goAwayCode: NIOHTTP2.HTTP2ErrorCode?
    private(set) var isClosed = false
    /// The stream that NIO's handler has just closed because of an error. The handler reports the error next.
    private var brokenStream: HTTP2StreamID?

    var isInUse: Bool { !streams.isEmpty || !tunnels.isEmpty }
    var unread: UnreadBytes? { windows.unread }

    init(_ id: ConnectionID, _ dialed: DialedConnection, in pool: OriginPool) throws {
        self.id = id
        self.pool = pool
        facts = ConnectionFacts(dialed)
        let channel = dialed.channel
        let configuration = pool.configuration
        initialLimit = min(Self.limitBeforeSettings, max(1, configuration.wire.maximumConcurrentStreams))
        wakeUp = WakeUp(on: channel.eventLoop)
        sender = HTTP2Sender(on: channel, wakeUp: wakeUp, configuration.wire)
        windows = HTTP2ReceiveWindows(sender, configuration.wire)
        streams = HTTP2Streams(of: id, in: pool, sender, windows)
        tunnels = HTTP2Tunnels(of: id, in: pool, sender, windows)
        liveness = HTTP2Liveness(configuration, now: .now())
        silenceLimits = SilenceLimits(configuration)
        guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
        // NIO's handler sends the preface and the settings when it is added.
        try channel.pipeline.syncOperations.addHandlers(
            HTTP2FrameMeter(streams),
            NIOHTTP2Handler(announcing: configuration.wire, window: windows.streamWindow, reportingTo: windows), self)
        wakeUp.handler = { [weak self] in self?.checkSilence() }
        windows.announce()
    }

    func handlerAdded(context: ChannelHandlerContext) { sender.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { sender.context = nil }
}

extension HTTP2Connection {
    func send(_ exchange: Exchange) {
        guard !isClosed, !isDraining else { return exchange.lost(WireError.closed, isUnprocessed: true) }
        let head = HPACKHeaders(exchange.head, expectsContinue: exchange.expectsContinue)
        guard accepts(head) else { return refuse(exchange) }
        let now = NIODeadline.now()
        streams.send(exchange, head, on: nextStream(), now: now)
        watchSilence(now)
    }

    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>) {
        streams.sendPart(part, of: exchange, promise: promise)
    }

    func sendEnd(of exchange: Exchange) { streams.sendEnd(of: exchange) }

    func cancel(_ exchange: Exchange) { streams.cancel(exchange) }

    func consumed(_ byteCount: Int, of exchange: Exchange) { streams.consumed(byteCount, of: exchange) }

    func readersConsumed() { windows.readersConsumed() }

    var acceptsTunnels: Bool { settings.allowsTunnels && !isDraining && !isClosed }

    func openTunnel(_ head: WireRequestHead, to name: String) -> (any Channel)? {
        let headers = HPACKHeaders(head, expectsContinue: false, connectingTo: name)
        guard acceptsTunnels, accepts(headers) else { return nil }
        let tunnel = tunnels.open(nextStream(), headers)
        watchSilence(.now())
        return tunnel
    }

    /// Returns whether the server accepts a head of this size, by the settings received so far.
    ///
    /// A larger head could make the server close the whole connection, which fails all its exchanges.
    private func accepts(_ head: HPACKHeaders) -> Bool { head.listSize <= pool.maximumHeaderListSize }

    /// Fails a request with an oversized head. Its stream slot is released in a later turn of the event loop, so that
    /// refusals of many pending requests do not recurse.
    private func refuse(_ exchange: Exchange) {
        exchange.finish(failing: ExchangeFailure(WireError.headTooLarge(limit: pool.maximumHeaderListSize)))
        sender.channel.eventLoop.assumeIsolated().execute { self.pool.ended(self.id) }
    }

    /// Returns the number of a new stream, for which the pool has reserved a slot.
    private func nextStream() -> HTTP2StreamID {
        let number = nextStreamNumber
        nextStreamNumber += 2
        if nextStreamNumber > Self.lastStreamNumber {
            isDraining = true
            pool.drain(id)
        }
        return HTTP2StreamID(number)
    }
}

/// Receives frames. Applies the frames of the connection itself, and passes all others to their streams.
extension HTTP2Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !sender.isReading {
            sender.beginReading()
            liveness.received(at: .now())
        }
        let frame = unwrapInboundIn(data)
        let id = frame.streamID
        if !tunnels.isEmpty, let tunnel = tunnels[id] { return tunnels.receive(frame.payload, on: tunnel) }
        switch frame.payload {
        case .headers(let payload): streams.receive(payload, on: id, at: liveness.lastRead)
        case .data(let payload): streams.receive(payload, on: id, at: liveness.lastRead)
        case .rstStream(let code): streams.receiveReset(code, on: id)
        case .goAway(let last, let code, _): receiveGoAway(last, code)
        case .settings(.settings(let settings)): receive(settings)
        case .settings(.ack): windows.acknowledged()
        case .windowUpdate(let increment):
            streams.receive(windowUpdate: increment, on: id, initialSize: settings.initialWindowSize)
        case .ping, .priority, .pushPromise, .alternativeService, .origin: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        sender.endReading()
        context.fireChannelReadComplete()
    }

    private func receive(_ settings: HTTP2Settings) {
        guard !isClosed else { return }
        do throws(HTTP2Violation) {
            let change = try self.settings.receive(settings, windows: streams.sendWindows)
            // A draining connection sends no further requests, so its settings must not affect other connections.
            if !isDraining, let size = change.maximumHeaderListSize { pool.maximumHeaderListSize = size }
            guard let limit = change.maximumConcurrentStreams else { return }
            pool.limitChanged(id, to: min(limit, max(1, pool.configuration.wire.maximumConcurrentStreams)))
        } catch {
            // NIO's handler does not detect this connection error (RFC 9113 §5.4.1).
            sender.write(.rootStream, .goAway(lastStreamID: .rootStream, errorCode: error.code, opaqueData: nil))
            sender.context?.flush()
            abandon(WireError.malformed(error.reason))
        }
    }

    private func receiveGoAway(_ last: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode) {
        isDraining = true
        if goAwayCode == nil || code != .noError { goAwayCode = code }
        if code == .http11Required { pool.requireHTTP1() }
        pool.drain(id)
        tunnels.receiveGoAway(last, code)
        streams.receiveGoAway(last, code)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2WindowUpdatedEvent: windowChanged(event)
        case let event as StreamClosedEvent:
            // Streams that ended without an error were already removed.
            let isOpen = streams[event.streamID] != nil || tunnels[event.streamID] != nil
            brokenStream = isOpen ? event.streamID : nil
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Handles a change of a receive window: received bytes have reduced it, or a sent WINDOW_UPDATE has increased it.
    private func windowChanged(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard let counted = event.inboundWindowSize else { return }
        if event.streamID == .rootStream {
            windows.connectionChanged(counted: counted)
        } else if let stream = streams[event.streamID] {
            streams.windowChanged(of: stream, left: windows.left(on: event.streamID, counted: counted))
        } else if let tunnel = tunnels[event.streamID] {
            tunnels.windowChanged(of: tunnel, left: windows.left(on: event.streamID, counted: counted))
        }
    }
}

/// Checks whether the server is silent for too long.
extension HTTP2Connection {
    /// Whether a silent server may be unreachable. `false` if only long-lived responses and tunnels are open: their
    /// callers detect a lost server with their own heartbeats or pings, which also measure how long a silence the
    /// network permits.
    private var expectsBytes: Bool { !(streams.mayBeSilent && tunnels.areAccepted) }

    /// Flushes the written frames, and checks for silence from now on.
    private func watchSilence(_ now: NIODeadline) {
        let expectsBytes = expectsBytes
        if liveness.pingIfSilent(at: now, expectsBytes: expectsBytes) { sendPing(now) }
        sender.flushSoon()
        wakeUp.set(liveness.nextCheck(after: now, expectsBytes: expectsBytes))
    }

    private func sendPing(_ now: NIODeadline) {
        sender.write(.rootStream, .ping(HTTP2PingData(withInteger: UInt64(now.uptimeNanoseconds)), ack: false))
        sender.flushSoon()
    }

    func checkLiveness() {
        let now = NIODeadline.now()
        guard !isClosed, isInUse, liveness.ping(at: now) else { return }
        sendPing(now)
        wakeUp.set(now + TimeAmount(pool.configuration.wire.pingTimeout))
    }

    /// Fails the exchanges for which the server was silent for too long. Closes the connection if a PING was not
    /// acknowledged.
    private func checkSilence() {
        guard !isClosed, isInUse else { return }
        let now = NIODeadline.now()
        if liveness.isLost(at: now) { return abandon(WireError.pingTimedOut) }
        let expectsBytes = expectsBytes
        if liveness.pingIfSilent(at: now, expectsBytes: expectsBytes) { sendPing(now) }
        let next = liveness.nextCheck(at: now, expectsBytes: expectsBytes)
        let due = streams.failSilent(silenceLimits, at: now, reportingTo: facts.report)
        if !isClosed, isInUse { wakeUp.set(min(next, due)) }
    }
}

/// Closes the connection, and ends its exchanges or moves them to other connections.
extension HTTP2Connection {
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOHTTP2Errors.StreamError {
            if let tunnel = tunnels[error.streamID] { return tunnels.fail(tunnel, error.baseError) }
            guard let stream = streams[error.streamID] else { return }
            return streams.fail(stream, error.baseError)
        }
        let broken = brokenStream.take()
        if let stream = broken.flatMap({ streams[$0] }) { return streams.end(stream, error) }
        if let tunnel = broken.flatMap({ tunnels[$0] }) { return tunnels.end(tunnel, error) }
        // The exchanges are abandoned now rather than when the channel has closed, which may take long with TLS. In the
        // meantime, the pool would send more requests over the broken connection.
        abandon(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        tearDown()
        lose(nil)
    }

    func close(failing error: any Error) {
        let carried = streams.takeAll()
        let carriedTunnels = tunnels.takeAll()
        if !isClosed {
            sender.write(.rootStream, .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil))
        }
        tearDown()
        for stream in carried { stream.exchange.failed(error) }
        for tunnel in carriedTunnels { tunnel.end(error) }
        sender.context?.close(promise: nil)
    }

    func abandon(_ error: any Error) {
        tearDown()
        lose(error)
        // The channel is closed last, since it may report its end immediately, without the reason.
        sender.context?.close(promise: nil)
    }

    /// Reports the loss of the connection to its exchanges, which may move to another connection. If the server closed
    /// the connection with an error, the exchanges may not move, since the server may have processed them (RFC 9113
    /// §6.8). If the server requires HTTP/1.1, idempotent requests may move nevertheless.
    private func lose(_ error: (any Error)?) {
        let carried = streams.takeAll()
        reportLoss(error, of: carried.map(\.exchange), isDraining: isDraining)
        // Tunnels end with an error if the server reported one for the connection, or the network was lost. An error of
        // another stream does not concern a tunnel's peer.
        let failure: WireError? = goAwayCode.flatMap { $0 == .noError ? nil : .ended($0) }
        let silence = (error as? WireError).flatMap { [WireError.pingTimedOut, .networkGone].contains($0) ? $0 : nil }
        for tunnel in tunnels.takeAll() { tunnel.end(failure ?? silence ?? .closed) }
        let isAnnounced = goAwayCode != nil && error?.isCloseOrReset ?? true
        for stream in carried {
            if let failure, failure.requiresHTTP1 {
                stream.exchange.lost(failure)
            } else if let failure {
                stream.exchange.failed(failure)
            } else if isAnnounced, stream.mayBeSilent, stream.missingByteCount ?? 0 == 0 {
                // A long-lived response has no other end than the close that the server announced, so the response is
                // complete.
                stream.exchange.receiveEnd()
            } else {
                stream.exchange.lost(error ?? (stream.hasHead ? WireError.closedInResponse : .closed))
            }
        }
    }

    private func tearDown() {
        guard !isClosed else { return }
        isClosed = true
        wakeUp.stop()
        windows.stop()
        pool.closed(id)
    }
}
