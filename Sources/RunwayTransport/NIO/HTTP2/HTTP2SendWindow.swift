import NIOHTTP2

/// The flow-control window that the server grants to a stream (RFC 9113 §6.9).
///
/// NIO's handler checks the window only while the request is being sent; this type also checks it afterwards.
struct HTTP2SendWindow {
    /// The number of bytes written of the request's body. Bytes that are not flushed yet count, too.
    var sentByteCount = 0
    /// The sum of the server's window increments.
    private var grantedByteCount = 0

    /// Adds the increment of the server's WINDOW_UPDATE.
    ///
    /// - Parameter initialSize: The initial size of the server's windows.
    /// - Throws: ``HTTP2Violation`` if the increment is 0 or the window becomes too large.
    mutating func grant(_ increment: Int, initialSize: Int) throws(HTTP2Violation) {
        grantedByteCount += increment
        if increment == 0 { throw HTTP2Violation("a WINDOW_UPDATE has an increment of 0", .protocolError) }
        if exceedsMaximum(initialSize: initialSize) {
            throw HTTP2Violation(
                "a WINDOW_UPDATE makes a flow-control window larger than 2^31-1", .flowControlError)
        }
    }

    /// Returns whether the window exceeds the maximum (RFC 9113 §6.9.1).
    func exceedsMaximum(initialSize: Int) -> Bool {
        initialSize + grantedByteCount - sentByteCount > Int(Int32.max)
    }
}

/// A protocol violation by the server, and the error code with which to end the stream or the connection.
struct HTTP2Violation: Error {
    let reason: String
    let code: NIOHTTP2.HTTP2ErrorCode

    init(_ reason: String, _ code: NIOHTTP2.HTTP2ErrorCode) { (self.reason, self.code) = (reason, code) }
}
