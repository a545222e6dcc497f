import HTTPTypes
import NIOCore
import Runway

/// A connection that speaks HTTP/1.1: one exchange at a time, never a second before the answer to the first is complete.
///
/// It is the last handler of its channel and lives on its loop.
final class HTTP1Connection: ChannelDuplexHandler, WireConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How many unread bytes of a streamed answer stop the reading, and at how many it goes on.
    private static let highWater = 256 << 10
    private static let lowWater = 128 << 10
    /// Bodies up to this size are written together with their head.
    private static let joinedByteCount = 16 << 10

    let id: ConnectionID
    let facts: ConnectionFacts
    private let pool: OriginPool
    private let channel: any Channel
    private var context: ChannelHandlerContext?
    private var reader: HTTP1ResponseReader
    private var exchange: Exchange?
    /// Whether the request is written in full.
    private var isRequestSent = false
    /// Whether the rest of the request is not sent, since its answer came first.
    private var isRequestAbandoned = false
    /// What sends the body if the server does not say that it wants it.
    private var continueTimer: Scheduled<Void>?
    private let wakeUp: WakeUp
    /// When bytes went one way or the other, and when the request was sent in full.
    private var lastProgress = NIODeadline.uptimeNanoseconds(0)
    private var sentInstant = NIODeadline.uptimeNanoseconds(0)
    /// Whether the next part of the request's body is awaited from its producer, so that nobody else is silent.
    private var isPartDue = false
    /// How many bytes of a streamed answer its reader has not taken.
    private var untakenByteCount = 0
    private var isPaused = false
    private var isReadHeld = false
    private(set) var isClosed = false
    /// Whether something came that nobody had asked for.
    private(set) var isUnsolicited = false
    /// What the channel reported before it ended.
    private var failure: (any Error)?

    init(_ id: ConnectionID, _ dialed: DialedConnection, in pool: OriginPool) throws {
        self.id = id
        self.pool = pool
        channel = dialed.channel
        facts = ConnectionFacts(dialed)
        let settings = pool.configuration.wire
        reader = HTTP1ResponseReader(
            maximumHeadByteCount: settings.maximumHeadByteCount, maximumFieldCount: settings.maximumFieldCount)
        wakeUp = WakeUp(on: dialed.channel.eventLoop)
        try channel.pipeline.syncOperations.addHandler(self)
        wakeUp.handler = { [weak self] in self?.checkSilence() }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
}

/// The request.
extension HTTP1Connection {
    func send(_ exchange: Exchange) {
        guard !isClosed, let context else { return exchange.lost(WireError.closed, isUnprocessed: true) }
        self.exchange = exchange
        isRequestAbandoned = false
        isRequestSent = false
        reader.expectAnswer(to: exchange.head.method)
        lastProgress = .now()
        var buffer = context.channel.allocator.buffer(capacity: 512)
        buffer.writeHTTP1(exchange.head, expectsContinue: exchange.expectsContinue)
        if exchange.expectsContinue {
            write(buffer)
            waitForContinue()
        } else {
            sendBody(of: exchange, after: buffer)
        }
        context.flush()
        wakeUp.set(lastProgress + TimeAmount(pool.configuration.idleTimeout))
    }

    /// Writes the body, or begins to.
    private func sendBody(of exchange: Exchange, after head: ByteBuffer?) {
        var head = head ?? ByteBuffer()
        guard case .bytes(let bytes) = exchange.request.body, !bytes.isEmpty else {
            write(head)
            guard let upload = exchange.upload else { return requestSent() }
            isPartDue = true
            return upload.startTurn()
        }
        guard bytes.count > Self.joinedByteCount else {
            head.writeBytes(bytes)
            write(head)
            return requestSent()
        }
        write(head)
        var body = ByteBuffer(bytes: bytes)
        while let piece = body.readSlice(length: min(Self.pieceByteCount, body.readableBytes)), piece.readableBytes > 0
        {
            let isLast = body.readableBytes == 0
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess {
                self.lastProgress = .now()
                if isLast, self.exchange === exchange { self.requestSent() }
            }
            write(piece, promise: promise)
        }
    }

    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>) {
        guard self.exchange === exchange, !isRequestAbandoned, !isClosed else { return promise.fail(WireError.closed) }
        var buffer = channel.allocator.buffer(capacity: part.count + 16)
        if exchange.head.hasUnknownLength { buffer.writeHTTP1Chunk(part) } else { buffer.writeBytes(part) }
        isPartDue = false
        promise.futureResult.assumeIsolated().whenSuccess {
            guard self.exchange === exchange else { return }
            self.lastProgress = .now()
            self.isPartDue = !self.isRequestSent && !self.isRequestAbandoned
        }
        write(buffer, promise: promise)
        context?.flush()
    }

    func sendEnd(of exchange: Exchange) {
        guard self.exchange === exchange, !isRequestAbandoned, !isClosed else { return }
        if exchange.head.hasUnknownLength {
            write(ByteBuffer(staticString: "0\r\n\r\n"))
            context?.flush()
        }
        requestSent()
    }

    private func requestSent() {
        isRequestSent = true
        isPartDue = false
        lastProgress = .now()
        sentInstant = lastProgress
        if let limit = pool.configuration.wire.firstByteTimeout { wakeUp.set(sentInstant + TimeAmount(limit)) }
        exchange?.requestSent(at: sentInstant)
    }

    private func write(_ buffer: ByteBuffer, promise: EventLoopPromise<Void>? = nil) {
        exchange?.sent(byteCount: buffer.readableBytes)
        guard let context else {
            promise?.fail(WireError.closed)
            return
        }
        context.write(wrapOutboundOut(buffer), promise: promise)
    }

    /// Sends the body when the server says that it wants it, or says nothing for some time (RFC 9110 §10.1.1).
    private func waitForContinue() {
        let delay = TimeAmount(pool.configuration.wire.continueTimeout)
        continueTimer = channel.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.goOn() }
    }

    private func goOn() {
        guard continueTimer != nil, let exchange else { return }
        stopWaitingToGoOn()
        sendBody(of: exchange, after: nil)
        context?.flush()
    }

    private func stopWaitingToGoOn() {
        continueTimer?.cancel()
        continueTimer = nil
    }
}

/// The answer.
extension HTTP1Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard !isClosed, bytes.readableBytes > 0 else { return }
        // Nobody asked: whatever this is, it is the answer to nothing.
        guard let exchange else {
            isUnsolicited = true
            return tearDown()
        }
        lastProgress = .now()
        exchange.received(byteCount: bytes.readableBytes)
        exchange.answerBegan()
        reader.feed(bytes)
        do {
            while self.exchange === exchange, let event = try reader.next() { try handle(event, for: exchange) }
        } catch {
            fail(exchange, error)
        }
    }

    private func handle(_ event: HTTP1ResponseReader.Event, for exchange: Exchange) throws {
        switch event {
        case .informational(let status):
            try exchange.receive(informational: status)
            if status == .continue { goOn() }
        case .head(let head, let isEmpty, let contentLength):
            if continueTimer != nil, head.status == .expectationFailed {
                self.exchange = nil
                tearDown()
                return exchange.expectationFailed()
            }
            // What refuses the request before all of it came wants no more of it.
            if continueTimer != nil || (!isRequestSent && head.status.code >= 300) { abandonRequest(of: exchange) }
            exchange.speaks(reader.version)
            try exchange.receive(head, isEmpty: isEmpty, contentLength: contentLength)
        case .body(let part):
            try exchange.receive(part)
            guard exchange.stream != nil else { return }
            untakenByteCount += part.readableBytes
            if untakenByteCount > Self.highWater { isPaused = true }
        case .end: end(exchange)
        }
    }

    private func abandonRequest(of exchange: Exchange) {
        stopWaitingToGoOn()
        isRequestAbandoned = true
        isPartDue = false
        exchange.upload?.stopTurn()
    }

    /// The answer is complete: the connection goes back to the pool if it can carry another.
    private func end(_ exchange: Exchange) {
        let isKept =
            reader.isPersistent && isRequestSent && !isRequestAbandoned && !reader.hasSurplus
            && !exchange.head.fields.names("close", in: .connection)
        self.exchange = nil
        goOnReading()
        exchange.receiveEnd()
        if isKept { pool.ended(id, isKept: true) } else { tearDown() }
    }

    func read(context: ChannelHandlerContext) {
        if isPaused { isReadHeld = true } else { context.read() }
    }

    func readerTook(_ byteCount: Int, of exchange: Exchange) {
        guard self.exchange === exchange else { return }
        untakenByteCount -= byteCount
        guard isPaused, untakenByteCount <= Self.lowWater else { return }
        lastProgress = .now()
        let rest = untakenByteCount
        goOnReading()
        untakenByteCount = rest
    }

    private func goOnReading() {
        untakenByteCount = 0
        isPaused = false
        guard isReadHeld else { return }
        isReadHeld = false
        context?.read()
    }
}

/// The end.
extension HTTP1Connection {
    func giveUp(_ exchange: Exchange) {
        guard self.exchange === exchange else { return }
        self.exchange = nil
        tearDown()
    }

    func close(failing error: any Error) {
        let exchange = exchange
        self.exchange = nil
        tearDown()
        exchange?.failed(error)
    }

    func abandon(_ error: any Error) {
        let exchange = exchange
        self.exchange = nil
        tearDown()
        exchange?.lost(error)
    }

    private func fail(_ exchange: Exchange, _ error: any Error) {
        self.exchange = nil
        tearDown()
        exchange.failed(error)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if failure == nil { failure = error }
        // Of what is read already nothing is lost; the end of the channel tells the exchange.
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard let exchange else { return tearDown() }
        self.exchange = nil
        do {
            if let failure { throw failure }
            guard case .end? = try reader.finish() else { throw WireError.closed }
            tearDown()
            exchange.receiveEnd()
        } catch {
            reportLoss(error, of: [exchange])
            tearDown()
            exchange.lost(error)
        }
    }

    private func tearDown() {
        guard !isClosed else { return }
        isClosed = true
        stopWaitingToGoOn()
        wakeUp.stop()
        pool.closed(id)
        context?.close(promise: nil)
    }

    /// Ends the exchange where the server was silent for too long. A reader or a producer that takes its time is not the server.
    private func checkSilence() {
        guard let exchange else { return }
        let settings = pool.configuration
        let now = NIODeadline.now()
        if isPaused || isPartDue { lastProgress = now }
        var due = lastProgress + TimeAmount(settings.idleTimeout)
        var error = WireError.silent
        if let limit = settings.wire.firstByteTimeout, isRequestSent, exchange.meter.firstByte == nil {
            let firstByteDue = sentInstant + TimeAmount(limit)
            if firstByteDue < due { (due, error) = (firstByteDue, .noFirstByte) }
        }
        guard now >= due else { return wakeUp.set(due) }
        facts.report?.failed()
        fail(exchange, error)
    }
}
