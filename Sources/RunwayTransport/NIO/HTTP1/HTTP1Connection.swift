import HTTPTypes
import NIOCore
import Runway

/// An HTTP/1.1 connection. It performs the actions of its ``HTTP1Machine``.
///
/// It is the last handler of its channel and runs on the channel's event loop.
final class HTTP1Connection: ChannelDuplexHandler, WireConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A body of at most this size is written together with its head.
    private static let joinedByteCount = 16 << 10

    let id: ConnectionID
    let facts: ConnectionFacts
    private let pool: OriginPool
    private let channel: any Channel
    private var context: ChannelHandlerContext?
    private var machine = HTTP1Machine()
    private var reader: HTTP1ResponseReader
    private var exchange: Exchange?
    /// The exchange whose request waits until all earlier bytes are read.
    private var unsent: Exchange?
    /// Starts the body if the server does not send status 100 in time.
    private var continueTimer: Scheduled<Void>?
    private let wakeUp: WakeUp
    /// The reason why the connection was closed; `nil` if it is open.
    var closeReason: WireError? { machine.closeReason }

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

extension HTTP1Connection {
    func send(_ exchange: Exchange) {
        unsent = exchange
        channel.afterReading { [weak self] in self?.sendUnsent() }
    }

    private func sendUnsent() {
        // `nil` means that the connection was closed in the meantime.
        guard let exchange = unsent.take() else { return }
        let now = NIODeadline.now()
        let start = machine.start(
            exchange.id, Self.body(of: exchange), expectsContinue: exchange.expectsContinue, now: now)
        if start == .refuse { return exchange.lost(WireError.closed, isUnprocessed: true) }
        self.exchange = exchange
        reader.expectResponse(to: exchange.head.method)
        var buffer = channel.allocator.buffer(capacity: 512)
        buffer.writeHTTP1(exchange.head, expectsContinue: exchange.expectsContinue, through: facts.forwardProxy)
        if start == .writeHead {
            write(buffer)
            setContinueTimer(for: exchange)
        } else {
            writeBody(of: exchange, Self.body(of: exchange), after: buffer, now: now)
        }
        context?.flush()
        wakeUp.set(now + TimeAmount(pool.configuration.idleTimeout))
    }

    private static func body(of exchange: Exchange) -> HTTP1Machine.Body {
        if exchange.upload != nil { return .parts }
        return exchange.request.body.byteCount ?? 0 > joinedByteCount ? .pieces : .whole
    }

    /// Writes the head and the available part of the body.
    private func writeBody(
        of exchange: Exchange, _ body: HTTP1Machine.Body, after head: ByteBuffer, now: NIODeadline
    ) {
        var head = head
        switch body {
        case .whole:
            if case .bytes(let bytes) = exchange.request.body { head.writeBytes(bytes) }
            write(head)
            requestSent(exchange, at: now)
        case .pieces:
            write(head)
            if case .bytes(let bytes) = exchange.request.body { writePieces(bytes, of: exchange) }
        case .parts:
            write(head)
            channel.limitUnsentBytes()
            exchange.upload?.start()
        }
    }

    private func writePieces(_ bytes: [UInt8], of exchange: Exchange) {
        var body = ByteBuffer(bytes: bytes)
        while let piece = body.readSlice(length: min(Self.pieceByteCount, body.readableBytes)), piece.readableBytes > 0
        {
            let isLast = body.readableBytes == 0
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess {
                let now = NIODeadline.now()
                if self.machine.pieceWritten(of: exchange.id, isLast: isLast, now: now) {
                    self.requestSent(exchange, at: now)
                }
            }
            write(piece, promise: promise)
        }
    }

    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>) {
        guard machine.partSupplied(for: exchange.id) else { return promise.fail(WireError.closed) }
        var buffer = channel.allocator.buffer(capacity: part.count + 16)
        if exchange.head.hasUnknownLength { buffer.writeHTTP1Chunk(part) } else { buffer.writeBytes(part) }
        promise.futureResult.assumeIsolated().whenSuccess { self.machine.partWritten(of: exchange.id, now: .now()) }
        write(buffer, promise: promise)
        context?.flush()
    }

    func sendEnd(of exchange: Exchange) {
        let now = NIODeadline.now()
        guard machine.partsEnded(for: exchange.id, now: now) else { return }
        if exchange.head.hasUnknownLength {
            write(ByteBuffer(staticString: "0\r\n\r\n"))
            context?.flush()
        }
        requestSent(exchange, at: now)
    }

    private func requestSent(_ exchange: Exchange, at now: NIODeadline) {
        if let limit = pool.configuration.wire.firstByteTimeout { wakeUp.set(now + TimeAmount(limit)) }
        exchange.requestSent(at: now)
    }

    private func write(_ buffer: ByteBuffer, promise: EventLoopPromise<Void>? = nil) {
        exchange?.sent(byteCount: buffer.readableBytes)
        guard let context else {
            promise?.fail(WireError.closed)
            return
        }
        context.write(wrapOutboundOut(buffer), promise: promise)
    }

    private func setContinueTimer(for exchange: Exchange) {
        let delay = TimeAmount(pool.configuration.wire.continueTimeout)
        continueTimer = channel.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.startBody(of: exchange) }
    }

    /// Writes the body if it still waits for status 100.
    private func startBody(of exchange: Exchange) {
        let now = NIODeadline.now()
        guard let body = machine.startBody(of: exchange.id, now: now) else { return }
        cancelContinueTimer()
        writeBody(of: exchange, body, after: ByteBuffer(), now: now)
        context?.flush()
    }

    private func cancelContinueTimer() {
        continueTimer?.cancel()
        continueTimer = nil
    }
}

extension HTTP1Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if bytes.readableBytes == 0 { return }
        switch machine.bytesReceived(now: .now()) {
        case .ignore: return
        case .close: return closeChannel()
        case .parse: break
        }
        guard let exchange else { preconditionFailure("the machine carries a request of no exchange") }
        exchange.received(byteCount: bytes.readableBytes)
        exchange.responseBegan()
        reader.feed(bytes)
        do {
            while self.exchange === exchange, let event = try reader.next() { try handle(event, for: exchange) }
        } catch {
            close(failing: error)
        }
    }

    private func handle(_ event: HTTP1ResponseReader.Event, for exchange: Exchange) throws {
        switch event {
        case .informational(let head):
            machine.informationalRead()
            try exchange.receive(informational: head)
            if head.status == .continue { startBody(of: exchange) }
        case .head(let head, let isEmpty, let contentLength):
            switch machine.headRead(head.status) {
            case .accept: break
            case .abandonRequest:
                cancelContinueTimer()
                exchange.upload?.stop()
            case .resendWithoutExpectation:
                closeChannel()
                return exchange.expectationFailed()
            }
            exchange.noteVersion(reader.version)
            try exchange.receive(head, isEmpty: isEmpty, contentLength: contentLength)
        case .body(let part):
            try exchange.receive(part)
            if exchange.stream != nil { machine.bodyRead(byteCount: part.readableBytes) }
        case .end: end(exchange)
        }
    }

    private func end(_ exchange: Exchange) {
        let end = machine.responseEnded(
            isPersistent: reader.isPersistent && !reader.hasSurplus
                && !exchange.head.fields.names("close", in: .connection))
        self.exchange = nil
        if end.isReadPending { context?.read() }
        exchange.receiveEnd()
        if !end.isReusable { closeChannel() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if machine.readCompleted() { pool.ended(id) }
    }

    func read(context: ChannelHandlerContext) {
        if machine.readRequested() { context.read() }
    }

    func consumed(_ byteCount: Int, of exchange: Exchange) {
        if machine.bytesConsumed(byteCount, of: exchange.id, now: .now()) { context?.read() }
    }
}

/// Closes the connection, and ends its exchange or moves it to another connection.
extension HTTP1Connection {
    func cancel(_ exchange: Exchange) {
        if machine.cancel(exchange.id) || unsent === exchange && machine.close() { closeChannel() }
    }

    func close(failing error: any Error) {
        let (exchange, unsent) = (exchange, unsent.take())
        if machine.close() { closeChannel() }
        exchange?.failed(error)
        unsent?.finish(failing: ExchangeFailure(error))
    }

    func abandon(_ error: any Error) {
        let exchange = exchange
        if machine.close() { closeChannel() }
        exchange?.lost(error)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        machine.errorCaught(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let exchange = exchange
        switch machine.channelClosed(Result { () throws(WireError) in try reader.finish() != nil }) {
        case .ignore: break
        case .close: closeChannel()
        case .complete:
            closeChannel()
            exchange?.receiveEnd()
        case .lose(let error):
            if let exchange { reportLoss(error, of: [exchange]) }
            closeChannel()
            exchange?.lost(error)
        }
    }

    /// Closes the channel after the machine has closed the connection. A waiting request moves to another connection.
    private func closeChannel() {
        exchange = nil
        let unsent = unsent.take()
        cancelContinueTimer()
        wakeUp.stop()
        pool.closed(id)
        context?.close(promise: nil)
        unsent?.lost(machine.failure ?? closeReason ?? WireError.closed, isUnprocessed: true, isUnsent: true)
    }

    private func checkSilence() {
        switch machine.checkSilence(SilenceLimits(pool.configuration), now: .now()) {
        case .none: break
        case .check(let due): wakeUp.set(due)
        case .timedOut(let error):
            facts.report?.failed()
            let exchange = exchange
            closeChannel()
            exchange?.failed(error)
        }
    }
}
