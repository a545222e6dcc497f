import NIOCore
import NIOHTTP2

/// One exchange on an HTTP/2 connection.
final class HTTP2Stream {
    let id: HTTP2StreamID
    let exchange: Exchange
    /// Whether the request is sent in full.
    var isRequestSent = false
    /// Whether the rest of the request is not sent, since the final response came first.
    var isRequestAbandoned = false
    var hasHead = false
    /// Whether the response can't have content (RFC 9110 §6.4.1).
    var isBodiless = false
    /// How many bytes of the Content-Length have not come; `nil` without one, or if the response can't have content.
    var missingByteCount: Int?
    /// How many bytes of the request's body were written, and by how many the server opened its window.
    var sentByteCount = 0
    var grantedByteCount = 0
    /// Sends the body if status 100 does not come in time.
    var continueTimer: Scheduled<Void>?
    /// How many bytes the server may still send.
    var window: Int
    /// How many bytes the reader of the response has not reported as consumed.
    var unreadByteCount = 0
    /// When bytes were last written or read, and when the request was sent in full.
    var lastProgress: NIODeadline
    var sentInstant = NIODeadline.uptimeNanoseconds(0)
    /// Whether the producer of the request's body has not supplied the next part, so that the server is not silent.
    var isPartDue = false

    init(_ id: HTTP2StreamID, _ exchange: Exchange, window: Int, now: NIODeadline) {
        self.id = id
        self.exchange = exchange
        self.window = window
        lastProgress = now
    }

    /// Whether the response has begun and stays open, so that silence does not mean that the server is gone.
    var mayBeSilent: Bool { hasHead && exchange.isLongLived }

    /// By how much the window can be opened again: what came and was consumed.
    func credit(of target: Int) -> Int { target - window - unreadByteCount }

    /// Counts content that came (RFC 9113 §8.1.1).
    ///
    /// - Throws: ``WireError/malformed(_:)`` if it exceeds the Content-Length.
    func count(_ byteCount: Int) throws(WireError) {
        guard let missing = missingByteCount else { return }
        guard byteCount <= missing else { throw .malformed("it is longer than its Content-Length") }
        missingByteCount = missing - byteCount
    }

    /// - Throws: ``WireError/malformed(_:)`` if the content is shorter than the Content-Length (RFC 9113 §8.1.1).
    func checkLength() throws(WireError) {
        if let missingByteCount, missingByteCount > 0 { throw .malformed("it is shorter than its Content-Length") }
    }

    func cancelContinueTimer() {
        continueTimer?.cancel()
        continueTimer = nil
    }

    /// When the server will have been silent for too long, and the error then. While a reader or a producer is slow, the server is
    /// not silent.
    func silenceLimit(_ limits: SilenceLimits, now: NIODeadline) -> (due: NIODeadline, error: WireError) {
        if isPartDue || exchange.stream?.hasUnread == true { lastProgress = now }
        let isAwaited = isRequestSent && exchange.meter.firstByte == nil
        return limits.due(after: lastProgress, awaitedSince: isAwaited ? sentInstant : nil)
    }
}
