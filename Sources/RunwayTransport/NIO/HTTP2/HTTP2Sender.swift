import NIOCore
import NIOHPACK
import NIOHTTP2
import Runway

/// Writes the frames of a connection and the requests of its streams.
final class HTTP2Sender {
    let channel: any Channel
    /// The handler context of the connection; `nil` before it is added and after it is removed.
    var context: ChannelHandlerContext?
    /// Whether frames are being read. The end of the read flushes.
    private(set) var isReading = false
    private var isFlushDue = false
    /// The streams whose requests are completely sent with the next flush.
    private var leaving: [HTTP2Stream] = []
    private let wakeUp: WakeUp
    private let continueTimeout: TimeAmount
    private let firstByteTimeout: TimeAmount?

    init(on channel: any Channel, wakeUp: WakeUp, _ settings: WireSettings) {
        self.channel = channel
        self.wakeUp = wakeUp
        continueTimeout = TimeAmount(settings.continueTimeout)
        firstByteTimeout = settings.firstByteTimeout.map { TimeAmount($0) }
    }

    func write(_ stream: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>? = nil) {
        guard let context else {
            promise?.fail(WireError.closed)
            return
        }
        context.write(NIOAny(HTTP2Frame(streamID: stream, payload: payload)), promise: promise)
    }

    /// Flushes at the end of the current turn of the event loop.
    func flushSoon() {
        if isFlushDue { return }
        isFlushDue = true
        if !isReading { channel.eventLoop.assumeIsolated().execute { self.flushNow() } }
    }

    func beginReading() { isReading = true }

    func endReading() {
        isReading = false
        flushNow()
    }

    private func flushNow() {
        guard isFlushDue else { return }
        isFlushDue = false
        context?.flush()
        if leaving.isEmpty { return }
        let now = NIODeadline.now()
        for stream in leaving where stream.isOpen { requestSent(on: stream, at: now) }
        leaving.removeAll(keepingCapacity: true)
    }
}

extension HTTP2Sender {
    /// Writes the head and starts to write the body.
    func sendRequest(_ head: HPACKHeaders, on stream: HTTP2Stream) {
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
    }

    /// Sends a part of a streamed body. The promise succeeds when the next part may be sent.
    func sendPart(_ part: [UInt8], on stream: HTTP2Stream, promise: EventLoopPromise<Void>) {
        stream.isPartDue = false
        promise.futureResult.assumeIsolated().whenSuccess {
            guard stream.isOpen else { return }
            stream.lastProgress = .now()
            stream.isPartDue = !stream.isRequestSent && !stream.isRequestAbandoned
        }
        writeBody(ByteBuffer(bytes: part), on: stream, promise: promise)
        flushSoon()
    }

    func sendEnd(on stream: HTTP2Stream) {
        writeBody(ByteBuffer(), on: stream, isLast: true)
        stream.isPartDue = false
        leaving.append(stream)
        flushSoon()
    }

    /// Sends the body if it waits for status 100.
    func startBody(_ stream: HTTP2Stream) {
        guard stream.continueTimer != nil else { return }
        stream.cancelContinueTimer()
        sendBody(on: stream)
        flushSoon()
    }

    /// Waits for status 100 before sending the body, or for a timeout (RFC 9110 §10.1.1).
    private func waitForContinue(_ stream: HTTP2Stream) {
        stream.continueTimer = channel.eventLoop.assumeIsolated().scheduleTask(in: continueTimeout) {
            self.startBody(stream)
        }
    }

    private func sendBody(on stream: HTTP2Stream) {
        if let upload = stream.exchange.upload {
            stream.isPartDue = true
            channel.limitUnsentBytes()
            return upload.start()
        }
        guard case .bytes(let bytes) = stream.exchange.request.body else { return }
        var body = ByteBuffer(bytes: bytes)
        while let piece = body.readSlice(length: min(HTTP2Connection.pieceByteCount, body.readableBytes)),
            piece.readableBytes > 0
        {
            let isLast = body.readableBytes == 0
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess {
                // The exchange may have moved to another connection in the meantime.
                guard stream.isOpen else { return }
                stream.lastProgress = .now()
                if isLast { self.requestSent(on: stream, at: stream.lastProgress) }
            }
            writeBody(piece, on: stream, isLast: isLast, promise: promise)
        }
    }

    private func writeBody(
        _ part: ByteBuffer, on stream: HTTP2Stream, isLast: Bool = false, promise: EventLoopPromise<Void>? = nil
    ) {
        stream.sendWindow.sentByteCount += part.readableBytes
        write(stream.id, .data(.init(data: .byteBuffer(part), endStream: isLast)), promise: promise)
    }

    private func requestSent(on stream: HTTP2Stream, at now: NIODeadline) {
        stream.requestSent(at: now)
        if let firstByteTimeout { wakeUp.set(now + firstByteTimeout) }
    }
}
