import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Runway

/// A connection that speaks HTTP/2: many exchanges at once, each on a stream of its own.
///
/// It works on the frames themselves, behind NIO's handler, which checks and orders them. A channel for each stream would cost more
/// than all the rest. It is the last handler of its channel and lives on its loop.
final class HTTP2Connection: ChannelInboundHandler, WireConnection {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The most streams before the server has said how many it takes (RFC 9113 §6.5.2 recommends no less).
    private static let limitBeforeSettings = 100
    /// The last number that a stream can have.
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
    /// What of the streamed answers waits for readers.
    let unreadBytes = UnreadBytes()
    var unread: UnreadBytes? { unreadBytes }
    /// How many bytes the server takes at first on a stream (RFC 9113 §6.9.2).
    var peerStreamWindow = 65_535
    /// By how much the window of every stream grows when the server takes our settings, which NIO's handler counts no sooner.
    private(set) var windowToCome: Int
    private(set) var context: ChannelHandlerContext?
    private(set) var streams: [HTTP2StreamID: HTTP2Stream] = [:]
    private var nextStreamNumber = 1
    /// Whether the server has sent its settings.
    var hasSettings = false
    /// Whether no further stream may be begun.
    private var isDraining = false
    /// The error because of which the server said that it ends the connection; `nil` where it gave none.
    private var goAwayCode: NIOHTTP2.HTTP2ErrorCode?
    private(set) var isClosed = false
    /// The stream that NIO's handler ended just now because of an error that it is about to report.
    private var brokenStream: HTTP2Stream?

    private var isFlushDue = false
    /// The streams whose requests leave in full with the next flush.
    var leaving: [HTTP2Stream] = []
    private var isReading = false
    let wakeUp: WakeUp
    /// When bytes came last, and when the PING was sent that is not answered yet.
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
        windowToCome = streamWindow - 65_535
        initialLimit = min(Self.limitBeforeSettings, max(1, settings.maximumConcurrentStreams))
        wakeUp = WakeUp(on: dialed.channel.eventLoop)
        guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
        let meter = HTTP2FrameMeter()
        // NIO's handler sends the preface and the settings as it is added, and what is written next goes right behind them.
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

    /// Flushes when all that is to be written in this turn of the loop is written.
    func flushSoon() {
        if isFlushDue { return }
        isFlushDue = true
        // At the end of what is read there is a flush anyway.
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
        let now = NIODeadline.now()
        let number = nextStreamNumber
        nextStreamNumber += 2
        exchange.streamNumber = number
        let stream = HTTP2Stream(HTTP2StreamID(number), exchange, window: streamWindow, now: now)
        streams[stream.id] = stream
        exchange.noteVersion("HTTP/2")
        sendRequest(on: stream, now: now)
        if nextStreamNumber > Self.lastStreamNumber {
            isDraining = true
            pool.drain(id)
        }
    }

    func stream(of exchange: Exchange) -> HTTP2Stream? {
        let stream = streams[HTTP2StreamID(exchange.streamNumber)]
        return stream?.exchange === exchange ? stream : nil
    }

    /// Lets go of a stream.
    private func remove(_ stream: HTTP2Stream) {
        streams[stream.id] = nil
        stream.cancelContinueTimer()
    }

    /// Ends a stream that goes on, as far as the server knows.
    func reset(_ stream: HTTP2Stream, _ code: NIOHTTP2.HTTP2ErrorCode) {
        remove(stream)
        write(stream.id, .rstStream(code))
        flushSoon()
    }

    func cancel(_ exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return }
        reset(stream, .cancel)
        pool.ended(id, isKept: true)
    }

    func fail(_ stream: HTTP2Stream, _ error: any Error, _ code: NIOHTTP2.HTTP2ErrorCode = .cancel) {
        reset(stream, code)
        stream.exchange.failed(error)
        pool.ended(id, isKept: true)
    }

    /// The server did not act on the request of a stream, and has ended it.
    private func refused(_ stream: HTTP2Stream, _ error: WireError) {
        remove(stream)
        stream.exchange.lost(error, isUnprocessed: true)
        pool.ended(id, isKept: true)
    }

    /// The answer of a stream is complete.
    ///
    /// - Throws: ``WireError/malformed(_:)`` where it is shorter than it says.
    private func end(_ stream: HTTP2Stream) throws(WireError) {
        try stream.checkLength()
        if stream.isRequestSent { remove(stream) } else { reset(stream, .cancel) }
        stream.exchange.receiveEnd()
        pool.ended(id, isKept: true)
    }
}

/// What comes.
extension HTTP2Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isReading {
            isReading = true
            lastRead = .now()
            pingInstant = nil
        }
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let payload): receive(payload, on: frame.streamID)
        case .data(let payload): receive(payload, on: frame.streamID)
        case .rstStream(let code): receiveReset(code, on: frame.streamID)
        case .goAway(let last, let code, _): receiveGoAway(last, code)
        case .settings(.settings(let settings)): receive(settings)
        case .settings(.ack): windowToCome = 0
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
        // What follows the body are trailers, whose end NIO's handler has checked.
        let exchange = stream.exchange
        do {
            if stream.hasHead { return payload.endStream ? try end(stream) : () }
            let settings = pool.configuration.wire
            guard payload.headers.count <= settings.maximumFieldCount else {
                throw WireError.malformed("it has more than \(settings.maximumFieldCount) fields")
            }
            guard let (head, lostFields) = payload.headers.response else {
                throw WireError.malformed("its head is none")
            }
            // HTTP/2 has no such status (RFC 9113 §8.6).
            if head.status == .switchingProtocols { throw WireError.switchedProtocols }
            if head.status.kind == .informational {
                // It would end a stream on which no answer came (RFC 9113 §8.1.1).
                if payload.endStream { throw WireError.malformed("it ends with an interim answer") }
                try exchange.receive(informational: head.status)
                if head.status == .continue { startBody(stream) }
                return
            }
            stream.hasHead = true
            if stream.continueTimer != nil, head.status == .expectationFailed {
                reset(stream, .cancel)
                exchange.expectationFailed()
                return pool.ended(self.id, isKept: true)
            }
            // What refuses the request before all of it came wants no more of it.
            if stream.continueTimer != nil || (!stream.isRequestSent && head.status.code >= 300) {
                abandonRequest(of: stream)
            }
            // A length that is none makes the answer malformed (RFC 9113 §8.1.1).
            stream.isBodiless = isBodiless(head.status, to: exchange.head.method)
            let contentLength = try head.headerFields.contentLength()
            if !stream.isBodiless { stream.missingByteCount = contentLength }
            try exchange.receive(
                head, leavingOut: lostFields, isEmpty: payload.endStream || stream.isBodiless,
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
                throw WireError.malformed("it has content, which an answer of its status has not")
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
        // With any other code the server may have acted on the request, and this is its answer (RFC 9113 §8.7).
        remove(stream)
        stream.exchange.failed(error)
        pool.ended(self.id, isKept: true)
    }

    private func receiveGoAway(_ last: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode) {
        isDraining = true
        if code != .noError { goAwayCode = code }
        pool.drain(id)
        // A server that wants fewer requests gets no second one at once; the layer may wait and try again.
        for stream in streams.values.filter({ $0.id > last }).sorted(by: { $0.id < $1.id }) {
            if code == .enhanceYourCalm {
                remove(stream)
                stream.exchange.finish(failing: ExchangeFailure(WireError.goneAway(code)))
                pool.ended(id, isKept: true)
            } else {
                refused(stream, .goneAway(code))
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2WindowUpdatedEvent: windowChanged(event)
        case let event as StreamClosedEvent:
            // Streams that ended as they should are not here any more.
            brokenStream = streams[event.streamID]
        default: context.fireUserInboundEventTriggered(event)
        }
    }
}

/// The end.
extension HTTP2Connection {
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOHTTP2Errors.StreamError {
            guard let stream = streams[error.streamID] else { return }
            return fail(stream, error.baseError)
        }
        if let stream = brokenStream {
            brokenStream = nil
            remove(stream)
            stream.exchange.failed(error)
            return pool.ended(id, isKept: true)
        }
        // Now, and not when the channel has closed, which with TLS takes as long as the server likes: until then the pool would send
        // more over a connection that is no good.
        abandon(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        tearDown()
        lose(nil)
    }

    func close(failing error: any Error) {
        let carried = streams.values
        streams = [:]
        if !isClosed { write(.rootStream, .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)) }
        tearDown()
        for stream in carried {
            stream.cancelContinueTimer()
            stream.exchange.failed(error)
        }
        context?.close(promise: nil)
    }

    /// The connection does not answer any more.
    func abandon(_ error: any Error) {
        tearDown()
        lose(error)
        // Last, since the channel may tell at once that it has closed, and not why.
        context?.close(promise: nil)
    }

    /// Tells what is carried that the connection is gone; some of it may go on another, but nothing that the server had taken when it ended
    /// the connection with an error (RFC 9113 §6.8).
    private func lose(_ error: (any Error)?) {
        let carried = streams.values.sorted { $0.id < $1.id }
        reportLoss(error, of: carried.map(\.exchange), isDraining: isDraining)
        streams = [:]
        for stream in carried {
            stream.cancelContinueTimer()
            if let goAwayCode {
                stream.exchange.failed(WireError.ended(goAwayCode))
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
