import NIOCore
import NIOHPACK
import NIOHTTP2
import Runway

/// The request.
extension HTTP2Connection {
    /// Whether the server accepts a head of this size, as far as its settings have come.
    ///
    /// A larger head may fail as an error of the whole connection, and so of everything else that it carries.
    func accepts(_ head: HPACKHeaders) -> Bool { head.listSize <= maximumHeadSize }

    /// Fails a request whose head is too large. Its stream slot is released in a later turn of the event loop, so that refusals of many
    /// waiting requests do not recurse.
    func refuse(_ exchange: Exchange) {
        exchange.finish(failing: ExchangeFailure(WireError.headTooLarge(limit: maximumHeadSize)))
        channel.eventLoop.assumeIsolated().execute { self.pool.ended(self.id) }
    }

    /// The server ended a stream without processing its request.
    func refused(_ stream: HTTP2Stream, _ error: WireError) {
        remove(stream)
        if let error = headError(of: stream) {
            stream.exchange.finish(failing: ExchangeFailure(error))
        } else {
            stream.exchange.lost(error, isUnprocessed: true)
        }
        pool.ended(id)
    }

    /// The error of a request without a response whose head was sent before the server's settings came, and is larger than they allow. If the
    /// server ends its stream or the connection, it would do so on the next connection, too. `nil` for any other request.
    func headError(of stream: HTTP2Stream) -> WireError? {
        let head = HPACKHeaders(stream.exchange.head, expectsContinue: stream.exchange.expectsContinue)
        return stream.hasHead || accepts(head) ? nil : .headTooLarge(limit: maximumHeadSize)
    }

    /// Writes the head, and starts to write the body.
    func sendRequest(_ head: HPACKHeaders, on stream: HTTP2Stream, now: NIODeadline) {
        let exchange = stream.exchange
        let hasBody = exchange.head.hasBody || exchange.upload != nil
        write(stream.id, .headers(.init(headers: head, endStream: !hasBody)))
        if !hasBody {
            leaving.append(stream)
        } else if exchange.expectsContinue {
            waitForContinue(stream)
        } else {
            sendBody(on: stream)
        }
        watchSilence(now)
    }

    /// Sends what was written, and watches from now on whether the server is silent.
    func watchSilence(_ now: NIODeadline) {
        pingIfSilent(now)
        flushSoon()
        wakeUp.set(nextCheck(after: now))
    }

    func requestSent(on stream: HTTP2Stream, at now: NIODeadline) {
        stream.isRequestSent = true
        stream.isPartDue = false
        stream.lastProgress = now
        stream.sentInstant = now
        stream.exchange.requestSent(at: now)
        if let limit = pool.configuration.wire.firstByteTimeout { wakeUp.set(now + TimeAmount(limit)) }
    }

    private func sendBody(on stream: HTTP2Stream) {
        if let upload = stream.exchange.upload {
            stream.isPartDue = true
            channel.limitUnsentBytes()
            return upload.start()
        }
        guard case .bytes(let bytes) = stream.exchange.request.body else { return }
        var body = ByteBuffer(bytes: bytes)
        while let piece = body.readSlice(length: min(Self.pieceByteCount, body.readableBytes)), piece.readableBytes > 0
        {
            let isLast = body.readableBytes == 0
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess {
                // The exchange may have moved to another connection.
                guard self.streams[stream.id] === stream else { return }
                stream.lastProgress = .now()
                if isLast { self.requestSent(on: stream, at: stream.lastProgress) }
            }
            write(stream.id, .data(.init(data: .byteBuffer(piece), endStream: isLast)), promise: promise)
        }
    }

    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>) {
        guard let stream = stream(of: exchange), !stream.isRequestAbandoned else {
            return promise.fail(WireError.closed)
        }
        stream.isPartDue = false
        promise.futureResult.assumeIsolated().whenSuccess {
            guard self.streams[stream.id] === stream else { return }
            stream.lastProgress = .now()
            stream.isPartDue = !stream.isRequestSent && !stream.isRequestAbandoned
        }
        write(stream.id, .data(.init(data: .byteBuffer(ByteBuffer(bytes: part)))), promise: promise)
        flushSoon()
    }

    func sendEnd(of exchange: Exchange) {
        guard let stream = stream(of: exchange), !stream.isRequestAbandoned else { return }
        write(stream.id, .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
        stream.isPartDue = false
        leaving.append(stream)
        flushSoon()
    }

    func abandonRequest(of stream: HTTP2Stream) {
        stream.cancelContinueTimer()
        stream.isRequestAbandoned = true
        stream.isPartDue = false
        stream.exchange.upload?.stop()
    }

    /// Sends the body after status 100, or after a time-out (RFC 9110 §10.1.1).
    private func waitForContinue(_ stream: HTTP2Stream) {
        let delay = TimeAmount(pool.configuration.wire.continueTimeout)
        stream.continueTimer = channel.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.startBody(stream) }
    }

    func startBody(_ stream: HTTP2Stream) {
        guard stream.continueTimer != nil, streams[stream.id] === stream else { return }
        stream.cancelContinueTimer()
        sendBody(on: stream)
        flushSoon()
    }
}

/// Time-outs.
extension HTTP2Connection {
    /// At least 10 ms, so that the loop is not busy with PINGs alone. `nil` while responses that stay open and WebSockets are all that is
    /// open: their callers notice by heartbeats or pings of their own that a server is gone, and learn how long a silence the network
    /// allows.
    private var pingInterval: Duration? {
        guard let interval = pool.configuration.wire.pingInterval else { return nil }
        let isForSilentOnes = streams.values.allSatisfy(\.mayBeSilent) && tunnels.values.allSatisfy(\.hasHead)
        return isForSilentOnes ? nil : max(interval, .milliseconds(10))
    }

    /// When the next time-out passes if no byte comes.
    private func nextCheck(after now: NIODeadline) -> NIODeadline {
        let configuration = pool.configuration
        let limits = [
            configuration.idleTimeout, pingInterval,
            pingInstant == nil ? nil : configuration.wire.pingTimeout,
        ]
        return now + TimeAmount(limits.compactMap(\.self).min() ?? configuration.idleTimeout)
    }

    /// Sends a PING if no byte came for the ping interval.
    private func pingIfSilent(_ now: NIODeadline) {
        guard let interval = pingInterval, pingInstant == nil,
            now - lastRead >= TimeAmount(interval)
        else { return }
        ping(now)
    }

    private func ping(_ now: NIODeadline) {
        pingInstant = now
        write(.rootStream, .ping(HTTP2PingData(withInteger: UInt64(now.uptimeNanoseconds)), ack: false))
        flushSoon()
    }

    func checkLiveness() {
        guard !isClosed, isInUse, pingInstant == nil else { return }
        let now = NIODeadline.now()
        ping(now)
        wakeUp.set(now + TimeAmount(pool.configuration.wire.pingTimeout))
    }

    /// Fails the exchanges for which the server was silent for too long, and closes the connection if a PING was not acknowledged.
    func checkSilence() {
        guard !isClosed, isInUse else { return }
        let configuration = pool.configuration
        let now = NIODeadline.now()
        if let pingInstant, now >= pingInstant + TimeAmount(configuration.wire.pingTimeout) {
            return abandon(WireError.pingTimedOut)
        }
        pingIfSilent(now)
        var next = nextCheck(after: now)
        if let interval = pingInterval, pingInstant == nil {
            next = min(next, lastRead + TimeAmount(interval))
        }
        if let pingInstant { next = min(next, pingInstant + TimeAmount(configuration.wire.pingTimeout)) }
        for stream in Array(streams.values) {
            if isHeldByReaders { stream.lastProgress = now }
            let (due, error) = stream.silenceLimit(SilenceLimits(configuration), now: now)
            if now >= due {
                facts.report?.failed()
                fail(stream, error)
            } else {
                next = min(next, due)
            }
        }
        if !isClosed, isInUse { wakeUp.set(next) }
    }
}
