import HTTPTypes
import NIOCore
import NIOHTTP2

final class HTTP2Stream {
    /// The effect of a response's head or trailers on the connection.
    enum HeadEffect {
        case none
        /// The server requests the body with status 100.
        case startsBody
        /// The server does not support `Expect`.
        case failsExpectation
        case ends
    }

    let id: HTTP2StreamID
    let exchange: Exchange
    private(set) var isOpen = true
    /// Whether the whole request was sent.
    private(set) var isRequestSent = false
    /// Whether the rest of the request is not sent because the final response arrived first.
    private(set) var isRequestAbandoned = false
    private(set) var hasHead = false
    /// Whether the response cannot have content (RFC 9110 §6.4.1).
    private var lacksContent = false
    /// The number of bytes of the Content-Length that have not arrived; `nil` if there is no Content-Length or the
    /// response cannot have content.
    private(set) var missingByteCount: Int?
    var sendWindow = HTTP2SendWindow()
    /// Sends the body if status 100 does not arrive in time.
    var continueTimer: Scheduled<Void>?
    /// The number of bytes that the server may still send.
    var window: Int
    /// The number of received bytes that the reader of the response has not consumed.
    var unreadByteCount = 0
    /// The time when bytes were last written or read, or when the whole request was sent.
    var lastProgress: NIODeadline
    private var sentInstant = NIODeadline.uptimeNanoseconds(0)
    /// Whether the producer of the request body is late with the next part. Meanwhile, the server does not count as
    /// silent.
    var isPartDue = false

    init(_ id: HTTP2StreamID, _ exchange: Exchange, window: Int, now: NIODeadline) {
        self.id = id
        self.exchange = exchange
        self.window = window
        lastProgress = now
    }

    /// Whether the response has begun and is long-lived, so that silence does not mean a lost server.
    var mayBeSilent: Bool { hasHead && exchange.isLongLived }

    func close() {
        isOpen = false
        cancelContinueTimer()
    }

    func cancelContinueTimer() {
        continueTimer?.cancel()
        continueTimer = nil
    }

    /// Returns the instant at which the server will have been silent for too long, and the error for this case. While
    /// the app's reader or producer is slow, the server does not count as silent.
    func silenceLimit(_ limits: SilenceLimits, now: NIODeadline) -> (due: NIODeadline, error: WireError) {
        if isPartDue || exchange.stream?.hasUnread == true { lastProgress = now }
        let isAwaited = isRequestSent && exchange.meter.firstByte == nil
        return limits.due(after: lastProgress, awaitedSince: isAwaited ? sentInstant : nil)
    }
}

extension HTTP2Stream {
    func requestSent(at now: NIODeadline) {
        isRequestSent = true
        isPartDue = false
        lastProgress = now
        sentInstant = now
        exchange.requestSent(at: now)
    }

    private func abandonRequest() {
        cancelContinueTimer()
        isRequestAbandoned = true
        isPartDue = false
        exchange.upload?.stop()
    }
}

extension HTTP2Stream {
    /// Receives a head or trailers. Trailers are ignored.
    ///
    /// - Throws: ``WireError`` if the head is invalid or has more than `maximumFieldCount` fields, and the errors of
    ///   the exchange.
    func receive(_ payload: HTTP2Frame.FramePayload.Headers, upTo maximumFieldCount: Int) throws -> HeadEffect {
        // After the head, these are trailers. NIO's handler has checked that they end the stream.
        if hasHead { return payload.endStream ? .ends : .none }
        let (head, omittedFields) = try payload.response(upTo: maximumFieldCount)
        if head.status.kind == .informational {
            try exchange.receive(informational: head)
            return head.status == .continue ? .startsBody : .none
        }
        hasHead = true
        if continueTimer != nil, head.status == .expectationFailed { return .failsExpectation }
        // With this status, the server refuses the request and does not need the rest of its body.
        if continueTimer != nil || (!isRequestSent && head.status.code >= 300) { abandonRequest() }
        // An invalid length makes the response malformed (RFC 9113 §8.1.1).
        lacksContent = isBodiless(head.status, to: exchange.head.method)
        let contentLength = try head.headerFields.contentLength()
        if !lacksContent { missingByteCount = contentLength }
        try exchange.receive(
            head, leavingOut: omittedFields, isEmpty: payload.endStream || lacksContent, contentLength: contentLength)
        return payload.endStream ? .ends : .none
    }

    /// Receives a part of the content.
    ///
    /// - Throws: ``WireError/malformed(_:)`` if the content exceeds the Content-Length or the response cannot have
    ///   content (RFC 9113 §8.1.1), and the errors of the exchange.
    func receive(_ part: ByteBuffer) throws {
        if lacksContent, part.readableBytes > 0 {
            throw WireError.malformed("it has content, which a response of its status can't have")
        }
        if let missing = missingByteCount {
            guard part.readableBytes <= missing else {
                throw WireError.malformed("it is longer than its Content-Length")
            }
            missingByteCount = missing - part.readableBytes
        }
        try exchange.receive(part)
        if exchange.stream != nil { unreadByteCount += part.readableBytes }
    }

    /// - Throws: ``WireError/malformed(_:)`` if the content is shorter than the Content-Length (RFC 9113 §8.1.1).
    func checkLength() throws(WireError) {
        if let missingByteCount, missingByteCount > 0 { throw .malformed("it is shorter than its Content-Length") }
    }
}
