import NIOHTTP2

/// The flow-control window that the server grants to a stream (RFC 9113 §6.9).
///
/// NIO's handler checks the window only while the request is being sent; this type checks it also after the request was
/// sent in full.
struct HTTP2SendWindow {
    /// The number of bytes of the request's body that were written. Bytes that are written but not flushed count as
    /// sent.
    var sentByteCount = 0
    /// The sum of the increments by which the server opened the window.
    private var grantedByteCount = 0

    /// Notes that the server opened the window by a WINDOW_UPDATE.
    ///
    /// - Parameter initialSize: The initial size of the server's windows.
    /// - Throws: ``HTTP2Violation`` if the increment is 0, or the window becomes too large.
    mutating func grant(_ increment: Int, initialSize: Int) throws(HTTP2Violation) {
        grantedByteCount += increment
        if increment == 0 { throw HTTP2Violation("a WINDOW_UPDATE has an increment of 0", .protocolError) }
        if exceedsMaximum(initialSize: initialSize) {
            throw HTTP2Violation(
                "a WINDOW_UPDATE makes a flow-control window larger than 2^31-1", .flowControlError)
        }
    }

    /// Whether the window exceeds the maximum (RFC 9113 §6.9.1).
    func exceedsMaximum(initialSize: Int) -> Bool {
        initialSize + grantedByteCount - sentByteCount > Int(Int32.max)
    }
}

/// A violation of the protocol by the server, and the code with which the stream or the connection ends.
struct HTTP2Violation: Error {
    let reason: String
    let code: NIOHTTP2.HTTP2ErrorCode

    init(_ reason: String, _ code: NIOHTTP2.HTTP2ErrorCode) { (self.reason, self.code) = (reason, code) }
}
