import NIOCore
import NIOHTTP2

/// One exchange on an HTTP/2 connection.
final class HTTP2Stream {
    let id: HTTP2StreamID
    let exchange: Exchange
    /// Whether the request is written in full.
    var isRequestSent = false
    /// Whether the rest of the request is not sent, since its answer came first.
    var isRequestAbandoned = false
    var hasHead = false
    /// Whether its answer has no content, whatever comes (RFC 9110 §6.4.1).
    var isBodiless = false
    /// How many bytes of content are missing of the length that the head names; `nil` where it names none, or there is no content.
    var missingByteCount: Int?
    /// How many bytes of the request's body were written, and by how many the server has opened its window.
    var sentByteCount = 0
    var grantedByteCount = 0
    /// What sends the body if the server does not say that it wants it.
    var continueTimer: Scheduled<Void>?
    /// How many bytes the server may still send.
    var window: Int
    /// How many bytes the reader of the answer has not told that it took, which it tells in steps.
    var unreadByteCount = 0
    /// When bytes went one way or the other, and when the request was sent in full.
    var lastProgress: NIODeadline
    var sentInstant = NIODeadline.uptimeNanoseconds(0)
    /// Whether the next part of the request's body is awaited from its producer, so that nobody else is silent.
    var isPartDue = false

    init(_ id: HTTP2StreamID, _ exchange: Exchange, window: Int, now: NIODeadline) {
        self.id = id
        self.exchange = exchange
        self.window = window
        lastProgress = now
    }

    /// By how much the server's window can be opened again: what came and was read.
    func credit(of target: Int) -> Int { target - window - unreadByteCount }

    /// Counts content that came (RFC 9113 §8.1.1).
    ///
    /// - Throws: ``WireError/malformed(_:)`` where it is more than the head says.
    func count(_ byteCount: Int) throws(WireError) {
        guard let missing = missingByteCount else { return }
        guard byteCount <= missing else { throw .malformed("it is longer than its Content-Length") }
        missingByteCount = missing - byteCount
    }

    /// - Throws: ``WireError/malformed(_:)`` where some of the content has not come at its end (RFC 9113 §8.1.1).
    func checkLength() throws(WireError) {
        if let missingByteCount, missingByteCount > 0 { throw .malformed("it is shorter than its Content-Length") }
    }

    func cancelContinueTimer() {
        continueTimer?.cancel()
        continueTimer = nil
    }

    /// When the server was silent for too long, and what that is called.
    func silenceLimit(_ configuration: TransportConfiguration, now: NIODeadline) -> (due: NIODeadline, WireError) {
        // A reader or a producer that takes its time is not the server.
        if isPartDue || exchange.stream?.hasUnread == true { lastProgress = now }
        let due = lastProgress + TimeAmount(configuration.idleTimeout)
        guard let limit = configuration.wire.firstByteTimeout, isRequestSent, exchange.meter.firstByte == nil else {
            return (due, .silent)
        }
        let firstByteDue = sentInstant + TimeAmount(limit)
        return firstByteDue < due ? (firstByteDue, .noFirstByte) : (due, .silent)
    }
}
