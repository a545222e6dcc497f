import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Runway

/// A connection over HTTP/2: many exchanges at once, each on a stream of its own.
///
/// It reads and writes frames through NIO's handler, which validates them. A channel for each stream would cost more than all the
/// rest. It is the last handler of its channel, and runs on the channel's event loop.
final class HTTP2Connection: ChannelInboundHandler, WireConnection {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The most streams before the server's settings came (RFC 9113 §6.5.2 recommends no less).
    private static let limitBeforeSettings = 100
    /// The highest number of a stream.
    private static let lastStreamNumber = Int(Int32.max)

    let id: ConnectionID
    let facts: ConnectionFacts
    let initialLimit: Int
    let pool: OriginPool
    let channel: any Channel
    let streamWindow: Int
    let connectionWindow: Int
    let maximumUnreadByteCount: Int
    /// How many bytes the server may still send on all streams.
    var connectionWindowLeft: Int
    /// Counts the unread bytes of streamed responses.
    let unreadBytes = UnreadBytes()
    var unread: UnreadBytes? { unreadBytes }
    /// The initial size of the server's stream windows (RFC 9113 §6.9.2).
    var peerStreamWindow = 65_535
    /// By how much every stream's window grows when the server acknowledges our settings, which NIO's handler does not count
    /// before.
    private(set) var pendingWindowIncrement: Int
    private(set) var context: ChannelHandlerContext?
    private(set) var streams: [HTTP2StreamID: HTTP2Stream] = [:]
    /// The streams that carry other protocols.
    var tunnels: [HTTP2StreamID: HTTP2Tunnel] = [:]
    var isInUse: Bool { !streams.isEmpty || !tunnels.isEmpty }
    /// Whether the server accepts streams that carry other protocols.
    var allowsTunnels = false
    var acceptsTunnels: Bool { allowsTunnels && !isDraining && !isClosed }
    private var nextStreamNumber = 1
    /// Whether the server has sent its settings.
    var hasSettings = false
    /// The largest head of a request that the server accepts; unlimited until its settings have a limit (RFC 9113 §6.5.2).
    var maximumHeadSize = Int.max
    /// Whether no further stream may be opened.
    private(set) var isDraining = false
    /// The error code of the server's GOAWAY, `noError` included; `nil` before one.
    private var goAwayCode: NIOHTTP2.HTTP2ErrorCode?
    private(set) var isClosed = false
    /// The stream that NIO's handler has just closed because of an error, which it reports next.
    private var brokenStream: HTTP2StreamID?

    private var isFlushDue = false
    /// The streams whose requests the next flush completes.
    var leaving: [HTTP2Stream] = []
    private var isReading = false
    let wakeUp: WakeUp
    /// When bytes came last, and when the PING was sent that is not acknowledged.
    var lastRead = NIODeadline.now()
    var pingInstant: NIODeadline?

    init(_ id: ConnectionID, _ dialed: DialedConnection, in pool: OriginPool) throws {
        self.id = id
        self.pool = pool
        channel = dialed.channel
        facts = ConnectionFacts(dialed)
        let settings = pool.configuration.wire
        streamWindow = min(max(settings.streamWindowByteCount, 65_535), Int(Int32.max))
        maximumUnreadByteCount = max(settings.maximumUnreadByteCount, 65_535)
        connectionWindow = min(
            max(settings.connectionWindowByteCount, 65_535), maximumUnreadByteCount, Int(Int32.max))
        connectionWindowLeft = connectionWindow
        pendingWindowIncrement = streamWindow - 65_535
        initialLimit = min(Self.limitBeforeSettings, max(1, settings.maximumConcurrentStreams))
        wakeUp = WakeUp(on: dialed.channel.eventLoop)
        guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
        let meter = HTTP2FrameMeter()
        // NIO's handler sends the preface and the settings when it is added.
        try channel.pipeline.syncOperations.addHandlers(
            meter, Self.protocolHandler(settings, window: streamWindow), self)
        meter.connection = self
        wakeUp.handler = { [weak self] in self?.checkSilence() }
        if connectionWindow > 65_535 {
            write(.rootStream, .windowUpdate(windowSizeIncrement: connectionWindow - 65_535))
            flushSoon()
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func write(_ stream: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>? = nil) {
        guard let context else {
            promise?.fail(WireError.closed)
            return
        }
        if case .data(let part) = payload { streams[stream]?.sentByteCount += part.data.readableBytes }
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: promise)
    }

    /// Flushes at the end of this turn of the loop.
    func flushSoon() {
        if isFlushDue { return }
        isFlushDue = true
        // The end of the read flushes anyway.
        if !isReading { channel.eventLoop.assumeIsolated().execute { self.flushNow() } }
    }

    private func flushNow() {
        guard isFlushDue else { return }
        isFlushDue = false
        context?.flush()
        if leaving.isEmpty { return }
        let now = NIODeadline.now()
        for stream in leaving where streams[stream.id] === stream { requestSent(on: stream, at: now) }
        leaving.removeAll(keepingCapacity: true)
    }
}

/// The streams.
extension HTTP2Connection {
    func send(_ exchange: Exchange) {
        guard !isClosed, !isDraining else { return exchange.lost(WireError.closed, isUnprocessed: true) }
        let head = HPACKHeaders(exchange.head, expectsContinue: exchange.expectsContinue)
        guard accepts(head) else { return refuse(exchange) }
        let now = NIODeadline.now()
        let stream = HTTP2Stream(nextStream(), exchange, window: streamWindow, now: now)
        exchange.streamNumber = Int(stream.id)
        streams[stream.id] = stream
        exchange.noteVersion("HTTP/2")
        sendRequest(head, on: stream, now: now)
    }

    /// The number of a new stream, which the pool has reserved a place for.
    func nextStream() -> HTTP2StreamID {
        let number = nextStreamNumber
        nextStreamNumber += 2
        if nextStreamNumber > Self.lastStreamNumber {
            isDraining = true
            pool.drain(id)
        }
        return HTTP2StreamID(number)
    }

    func stream(of exchange: Exchange) -> HTTP2Stream? {
        let stream = streams[HTTP2StreamID(exchange.streamNumber)]
        return stream?.exchange === exchange ? stream : nil
    }

    /// Stops carrying a stream.
    func remove(_ stream: HTTP2Stream) {
        streams[stream.id] = nil
        stream.cancelContinueTimer()
    }

    /// Resets a stream that is open for the server.
    func reset(_ stream: HTTP2Stream, _ code: NIOHTTP2.HTTP2ErrorCode) {
        remove(stream)
        write(stream.id, .rstStream(code))
        flushSoon()
    }

    func cancel(_ exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return }
        reset(stream, .cancel)
        pool.ended(id)
    }

    func fail(_ stream: HTTP2Stream, _ error: any Error, _ code: NIOHTTP2.HTTP2ErrorCode = .cancel) {
        reset(stream, code)
        stream.exchange.failed(error)
        pool.ended(id)
    }

    /// The response of a stream is complete.
    ///
    /// - Throws: ``WireError/malformed(_:)`` if it is shorter than its Content-Length.
    private func end(_ stream: HTTP2Stream) throws(WireError) {
        try stream.checkLength()
        if stream.isRequestSent { remove(stream) } else { reset(stream, .cancel) }
        stream.exchange.receiveEnd()
        pool.ended(id)
    }
}

/// Frames that came.
extension HTTP2Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isReading {
            isReading = true
            lastRead = .now()
            pingInstant = nil
        }
        let frame = unwrapInboundIn(data)
        if !tunnels.isEmpty, let tunnel = tunnels[frame.streamID] { return receive(frame.payload, on: tunnel) }
        switch frame.payload {
        case .headers(let payload): receive(payload, on: frame.streamID)
        case .data(let payload): receive(payload, on: frame.streamID)
        case .rstStream(let code): receiveReset(code, on: frame.streamID)
        case .goAway(let last, let code, _): receiveGoAway(last, code)
        case .settings(.settings(let settings)): receive(settings)
        case .settings(.ack): pendingWindowIncrement = 0
        case .windowUpdate(let increment): receive(windowUpdate: increment, on: frame.streamID)
        case .ping, .priority, .pushPromise, .alternativeService, .origin: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flushNow()
        context.fireChannelReadComplete()
    }

    private func receive(_ payload: HTTP2Frame.FramePayload.Headers, on id: HTTP2StreamID) {
        guard let stream = streams[id] else { return }
        stream.lastProgress = lastRead
        // Fields after the head are trailers, whose order NIO's handler has validated.
        let exchange = stream.exchange
        do {
            if stream.hasHead { return payload.endStream ? try end(stream) : () }
            let (head, omittedFields) = try payload.response(upTo: pool.configuration.wire.maximumFieldCount)
            if head.status.kind == .informational {
                try exchange.receive(informational: head)
                if head.status == .continue { startBody(stream) }
                return
            }
            stream.hasHead = true
            if stream.continueTimer != nil, head.status == .expectationFailed {
                reset(stream, .cancel)
                exchange.expectationFailed()
                return pool.ended(self.id)
            }
            // The server that refuses the request needs no more of it.
            if stream.continueTimer != nil || (!stream.isRequestSent && head.status.code >= 300) {
                abandonRequest(of: stream)
            }
            // An invalid length makes the response malformed (RFC 9113 §8.1.1).
            stream.isBodiless = isBodiless(head.status, to: exchange.head.method)
            let contentLength = try head.headerFields.contentLength()
            if !stream.isBodiless { stream.missingByteCount = contentLength }
            try exchange.receive(
                head, leavingOut: omittedFields, isEmpty: payload.endStream || stream.isBodiless,
                contentLength: contentLength)
            if payload.endStream { try end(stream) }
        } catch {
            fail(stream, error, error is WireError ? .protocolError : .cancel)
        }
    }

    private func receive(_ payload: HTTP2Frame.FramePayload.Data, on id: HTTP2StreamID) {
        guard let stream = streams[id], case .byteBuffer(let part) = payload.data else { return }
        stream.lastProgress = lastRead
        do {
            if stream.isBodiless, part.readableBytes > 0 {
                throw WireError.malformed("it has content, which a response of its status can't have")
            }
            try stream.count(part.readableBytes)
            try stream.exchange.receive(part)
            if stream.exchange.stream != nil { stream.unreadByteCount += part.readableBytes }
            if payload.endStream { try end(stream) }
        } catch {
            fail(stream, error, error is WireError ? .protocolError : .cancel)
        }
    }

    private func receiveReset(_ code: NIOHTTP2.HTTP2ErrorCode, on id: HTTP2StreamID) {
        guard let stream = streams[id] else { return }
        let error = WireError.reset(code)
        if code == .refusedStream { return refused(stream, error) }
        // With any other code the server may have processed the request (RFC 9113 §8.7).
        remove(stream)
        stream.exchange.failed(error)
        pool.ended(self.id)
    }

    private func receiveGoAway(_ last: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode) {
        isDraining = true
        if goAwayCode == nil || code != .noError { goAwayCode = code }
        pool.drain(id)
        for tunnel in tunnels.values where tunnel.id > last { end(tunnel, WireError.goneAway(code)) }
        // A server that wants fewer requests is not sent another at once; the layer may retry after a backoff.
        for stream in streams.values.filter({ $0.id > last }).sorted(by: { $0.id < $1.id }) {
            if code == .enhanceYourCalm {
                remove(stream)
                stream.exchange.finish(failing: ExchangeFailure(WireError.goneAway(code)))
                pool.ended(id)
            } else {
                refused(stream, .goneAway(code))
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2WindowUpdatedEvent: windowChanged(event)
        case let event as StreamClosedEvent:
            // Streams that ended without an error are removed already.
            let isOpen = streams[event.streamID] != nil || tunnels[event.streamID] != nil
            brokenStream = isOpen ? event.streamID : nil
        default: context.fireUserInboundEventTriggered(event)
        }
    }
}

/// The end.
extension HTTP2Connection {
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOHTTP2Errors.StreamError {
            if let tunnel = tunnels[error.streamID] { return fail(tunnel, error.baseError) }
            guard let stream = streams[error.streamID] else { return }
            return fail(stream, error.baseError)
        }
        let broken = brokenStream.take()
        if let stream = broken.flatMap({ streams[$0] }) {
            remove(stream)
            stream.exchange.failed(error)
            return pool.ended(id)
        }
        if let tunnel = broken.flatMap({ tunnels[$0] }) { return end(tunnel, error) }
        // Not when the channel has closed, which with TLS takes as long as the server likes: until then the pool would send more
        // requests over the broken connection.
        abandon(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        tearDown()
        lose(nil)
    }

    func close(failing error: any Error) {
        let carried = streams.values
        let tunnels = takeTunnels()
        streams = [:]
        if !isClosed { write(.rootStream, .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)) }
        tearDown()
        for stream in carried {
            stream.cancelContinueTimer()
            stream.exchange.failed(error)
        }
        for tunnel in tunnels { tunnel.end(error) }
        context?.close(promise: nil)
    }

    func abandon(_ error: any Error) {
        tearDown()
        lose(error)
        // Last, since the channel may report at once that it has closed, without the reason.
        context?.close(promise: nil)
    }

    /// Reports the loss of the connection to its exchanges. They may move to another, unless the server closed the connection with
    /// an error, and so may have processed them (RFC 9113 §6.8).
    private func lose(_ error: (any Error)?) {
        let carried = streams.values.sorted { $0.id < $1.id }
        reportLoss(error, of: carried.map(\.exchange), isDraining: isDraining)
        streams = [:]
        // A violation by another stream, or by the connection, says nothing about what a tunnel carries; a network that is gone does.
        let failure: WireError? = goAwayCode.flatMap { $0 == .noError ? nil : .ended($0) }
        let silence = (error as? WireError).flatMap { [WireError.pingTimedOut, .networkGone].contains($0) ? $0 : nil }
        for tunnel in takeTunnels() { tunnel.end(failure ?? silence ?? .closed) }
        let isByServer = error?.isCloseOrReset ?? true
        let isAnnounced = goAwayCode != nil && isByServer
        for stream in carried {
            stream.cancelContinueTimer()
            if let failure = (isByServer ? headError(of: stream) : nil) ?? failure {
                stream.exchange.failed(failure)
            } else if isAnnounced, stream.mayBeSilent, stream.missingByteCount ?? 0 == 0 {
                // A response that stays open until the server ends it has no other end.
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
        pool.closed(id)
    }
}
