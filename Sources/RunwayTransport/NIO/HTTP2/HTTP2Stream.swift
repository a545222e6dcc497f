import HTTPTypes
import NIOCore
import NIOHTTP2

/// One exchange on an HTTP/2 connection.
final class HTTP2Stream {
    /// The effect that the head of a response, or trailers, have on the connection.
    enum HeadEffect {
        /// The response continues.
        case none
        /// The server asks for the body that waits for status 100.
        case startsBody
        /// The server does not support `Expect`.
        case failsExpectation
        /// The response is complete.
        case ends
    }

    let id: HTTP2StreamID
    let exchange: Exchange
    /// Whether the connection carries the exchange.
    private(set) var isOpen = true
    /// Whether the request is sent in full.
    private(set) var isRequestSent = false
    /// Whether the rest of the request is not sent, since the final response arrived first.
    private(set) var isRequestAbandoned = false
    private(set) var hasHead = false
    /// Whether the response can't have content (RFC 9110 §6.4.1).
    private var lacksContent = false
    /// The number of bytes of the Content-Length that have not arrived; `nil` without a Content-Length, or if the
    /// response can't have content.
    private(set) var missingByteCount: Int?
    /// The flow-control window of the request.
    var sendWindow = HTTP2SendWindow()
    /// Sends the body if status 100 does not come in time.
    var continueTimer: Scheduled<Void>?
    /// The number of bytes that the server may still send.
    var window: Int
    /// The number of received bytes that the reader of the response has not consumed.
    var unreadByteCount = 0
    /// The time at which bytes were last written or read, or at which the request was sent in full.
    var lastProgress: NIODeadline
    private var sentInstant = NIODeadline.uptimeNanoseconds(0)
    /// Whether the producer of the request's body is late with the next part: meanwhile the server does not count as
    /// silent.
    var isPartDue = false

    init(_ id: HTTP2StreamID, _ exchange: Exchange, window: Int, now: NIODeadline) {
        self.id = id
        self.exchange = exchange
        self.window = window
        lastProgress = now
    }

    /// Whether the response has begun and stays open, so that silence does not mean that the server is gone.
    var mayBeSilent: Bool { hasHead && exchange.isLongLived }

    /// Notes that the connection stops carrying the exchange.
    func close() {
        isOpen = false
        cancelContinueTimer()
    }

    func cancelContinueTimer() {
        continueTimer?.cancel()
        continueTimer = nil
    }

    /// Returns the instant at which the server counts as silent for too long, and the error for that case. While a
    /// reader or a producer is slow, the server does not count as silent.
    func silenceLimit(_ limits: SilenceLimits, now: NIODeadline) -> (due: NIODeadline, error: WireError) {
        if isPartDue || exchange.stream?.hasUnread == true { lastProgress = now }
        let isAwaited = isRequestSent && exchange.meter.firstByte == nil
        return limits.due(after: lastProgress, awaitedSince: isAwaited ? sentInstant : nil)
    }
}

/// The request.
extension HTTP2Stream {
    /// Notes that the request was sent in full.
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

/// The response.
extension HTTP2Stream {
    /// Receives a head or trailers. Trailers are ignored.
    ///
    /// - Throws: ``WireError`` if the head is invalid or has more than `maximumFieldCount` fields, and the errors of
    ///   the exchange.
    func receive(_ payload: HTTP2Frame.FramePayload.Headers, upTo maximumFieldCount: Int) throws -> HeadEffect {
        // Fields after the head are trailers, whose order NIO's handler has validated.
        if hasHead { return payload.endStream ? .ends : .none }
        let (head, omittedFields) = try payload.response(upTo: maximumFieldCount)
        if head.status.kind == .informational {
            try exchange.receive(informational: head)
            return head.status == .continue ? .startsBody : .none
        }
        hasHead = true
        if continueTimer != nil, head.status == .expectationFailed { return .failsExpectation }
        // The server that refuses the request needs no more of it.
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
    /// - Throws: ``WireError/malformed(_:)`` if the content exceeds the Content-Length or the response can't have
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
