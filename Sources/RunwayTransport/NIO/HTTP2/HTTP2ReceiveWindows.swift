import NIOHTTP2

/// Performs flow control of received bytes, for each stream and for the connection (RFC 9113 §6.9).
///
/// It reopens a stream's window when the stream's bytes were consumed, and the connection's window when bytes were
/// received, and sends WINDOW_UPDATE frames for both. The owner of each stream counts its window.
final class HTTP2ReceiveWindows {
    /// The initial size of every window of a connection (RFC 9113 §6.9.2).
    private static let smallestByteCount = 65_535
    /// The maximum size of a frame (RFC 9113 §6.5.2). The server may wait for a window that fits a whole frame.
    private static let frameByteCount = 16_384

    let streamWindow: Int
    /// Counts the unread bytes of streamed responses and tunnels.
    let unread = UnreadBytes()
    private let connectionWindow: Int
    private let maximumUnreadByteCount: Int
    /// The number of bytes that the server may still send on all streams together.
    private var connectionWindowLeft: Int
    /// The amount by which every stream's window grows when the server acknowledges the client's settings. NIO's
    /// handler counts it only then.
    private var pendingIncrement: Int
    /// By stream, the increments in WINDOW_UPDATE frames that NIO's handler delays while the connection is not
    /// writable. The handler does not count them yet. If they were not counted here, every frame that arrives in the
    /// meantime would open the window again.
    private var uncounted: [HTTP2StreamID: Int] = [:]
    private var isStopped = false
    private let sender: HTTP2Sender

    init(_ sender: HTTP2Sender, _ settings: WireSettings) {
        self.sender = sender
        streamWindow = min(max(settings.streamWindowByteCount, Self.smallestByteCount), Int(Int32.max))
        maximumUnreadByteCount = max(settings.maximumUnreadByteCount, Self.smallestByteCount)
        connectionWindow = min(
            max(settings.connectionWindowByteCount, Self.smallestByteCount), maximumUnreadByteCount, Int(Int32.max))
        connectionWindowLeft = connectionWindow
        pendingIncrement = streamWindow - Self.smallestByteCount
    }

    /// Opens the connection's window to its full size, after the settings were sent.
    func announce() {
        guard connectionWindow > Self.smallestByteCount else { return }
        grant(connectionWindow - Self.smallestByteCount, on: .rootStream)
    }

    /// Records that the server acknowledged the client's settings.
    func acknowledged() { pendingIncrement = 0 }

    func stop() { isStopped = true }

    private func grant(_ credit: Int, on id: HTTP2StreamID) {
        uncounted[id, default: 0] += credit
        sender.write(id, .windowUpdate(windowSizeIncrement: credit))
        sender.flushSoon()
    }
}

extension HTTP2ReceiveWindows: NIOHTTP2FrameDelegate {
    /// Records that NIO's handler has written a frame and counts it from now on.
    func wroteFrame(_ frame: HTTP2Frame) {
        guard case .windowUpdate(let credit) = frame.payload, let all = uncounted[frame.streamID] else { return }
        uncounted[frame.streamID] = all > credit ? all - credit : nil
    }
}

extension HTTP2ReceiveWindows {
    /// Returns the number of bytes that the server may still send on a stream, where `counted` is the number by NIO's
    /// handler.
    func left(on id: HTTP2StreamID, counted: Int) -> Int { counted + pendingIncrement + (uncounted[id] ?? 0) }

    /// Discards the values of an ended stream.
    func forget(_ id: HTTP2StreamID) { uncounted[id] = nil }

    /// Reopens the window of a stream if enough bytes were consumed for a WINDOW_UPDATE frame.
    ///
    /// NIO's handler may report the new size while it writes the frame. The caller must therefore replace its count by
    /// the result: adding the increment would count it twice.
    ///
    /// - Parameters:
    ///   - id: The stream.
    ///   - left: The number of bytes that the server may still send on the stream.
    ///   - unread: The number of received bytes of the stream that are not consumed.
    /// - Returns: The number of bytes that the server may send on the stream now; `left` if the window was not opened.
    func open(_ id: HTTP2StreamID, left: Int, unread: Int) -> Int {
        let credit = streamWindow - left - unread
        guard credit >= streamWindow / 4, !isStopped else { return left }
        grant(credit, on: id)
        return left + credit
    }
}

extension HTTP2ReceiveWindows {
    /// Whether the server cannot send until a reader consumes bytes, so that it does not count as silent.
    var isHeldByReaders: Bool { unread.isHeld && connectionWindowLeft < Self.frameByteCount }

    /// Records the size of the connection's window, as NIO's handler counts it after received bytes have reduced it.
    func connectionChanged(counted: Int) {
        connectionWindowLeft = counted + (uncounted[.rootStream] ?? 0)
        openConnection()
    }

    /// Handles bytes that readers consumed, possibly of responses that have ended.
    func readersConsumed() {
        if unread.isHeld { openConnection() }
    }

    /// Reopens the connection's window for received bytes, including those of streams that were reset, while the unread
    /// bytes are within ``maximumUnreadByteCount``.
    private func openConnection() {
        guard connectionWindowLeft <= connectionWindow / 2, !isStopped else { return }
        // The flag is set before the unread bytes are counted: earlier reads are included in the count, and later reads
        // are reported.
        unread.isHeld = true
        let credit = min(connectionWindow, maximumUnreadByteCount - unread.count) - connectionWindowLeft
        guard credit >= connectionWindow / 4 else { return }
        unread.isHeld = false
        connectionWindowLeft += credit
        grant(credit, on: .rootStream)
    }
}
