import NIOHTTP2

/// Flow control of the server's bytes: limits them on each stream and on all streams together (RFC 9113 §6.9).
///
/// It opens the window of a stream again when the stream's bytes were consumed, and the window of the connection when
/// bytes were received, and sends the frames for both. The sizes of the streams' windows are counted by their owners.
final class HTTP2ReceiveWindows {
    /// The smallest size of a window, with which every connection begins (RFC 9113 §6.9.2).
    private static let smallestByteCount = 65_535
    /// The largest frame that a server sends (RFC 9113 §6.5.2), which waits for a window of its size.
    private static let frameByteCount = 16_384

    /// The size of the window of a stream, in bytes.
    let streamWindow: Int
    /// Counts the unread bytes of streamed responses and tunnels.
    let unread = UnreadBytes()
    private let connectionWindow: Int
    private let maximumUnreadByteCount: Int
    /// The number of bytes that the server may still send on all streams together.
    private var connectionWindowLeft: Int
    /// The growth of every stream's window when the server acknowledges the client's settings, which NIO's handler does
    /// not count before.
    private var pendingIncrement: Int
    /// The sum of the increments in WINDOW_UPDATE frames that NIO's handler holds back, because the connection is not
    /// writable, and does not count yet. Without them, every frame that arrives meanwhile would open the window once
    /// more.
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

    /// Opens the connection's window to its size, once the settings were sent.
    func announce() {
        guard connectionWindow > Self.smallestByteCount else { return }
        grant(connectionWindow - Self.smallestByteCount, on: .rootStream)
    }

    /// Notes that the server acknowledged our settings.
    func acknowledged() { pendingIncrement = 0 }

    /// Stops opening windows, since the connection ends.
    func stop() { isStopped = true }

    private func grant(_ credit: Int, on id: HTTP2StreamID) {
        uncounted[id, default: 0] += credit
        sender.write(id, .windowUpdate(windowSizeIncrement: credit))
        sender.flushSoon()
    }
}

extension HTTP2ReceiveWindows: NIOHTTP2FrameDelegate {
    /// Notes that NIO's handler counts a frame now, and passes it on.
    func wroteFrame(_ frame: HTTP2Frame) {
        guard case .windowUpdate(let credit) = frame.payload, let all = uncounted[frame.streamID] else { return }
        uncounted[frame.streamID] = all > credit ? all - credit : nil
    }
}

/// The window of a stream.
extension HTTP2ReceiveWindows {
    /// Returns the number of bytes that the server may still send on a stream, if NIO's handler counts `counted`.
    func left(on id: HTTP2StreamID, counted: Int) -> Int { counted + pendingIncrement + (uncounted[id] ?? 0) }

    /// Forgets a stream, which has ended.
    func forget(_ id: HTTP2StreamID) { uncounted[id] = nil }

    /// Opens the window of a stream again, if enough bytes were consumed for a WINDOW_UPDATE frame.
    ///
    /// NIO's handler may report the new size while it writes the frame. The owner therefore replaces its count by the
    /// result: adding the increment would count it twice.
    ///
    /// - Parameters:
    ///   - id: The stream.
    ///   - left: The number of bytes that the server may still send on the stream.
    ///   - unread: The number of bytes of the stream that have arrived and are not consumed.
    /// - Returns: The number of bytes that the server may send on it now; `left` if the window was not opened.
    func open(_ id: HTTP2StreamID, left: Int, unread: Int) -> Int {
        let credit = streamWindow - left - unread
        guard credit >= streamWindow / 4, !isStopped else { return left }
        grant(credit, on: id)
        return left + credit
    }
}

/// The window of the connection.
extension HTTP2ReceiveWindows {
    /// Whether the server can't send before a reader consumes bytes, so that it does not count as silent.
    var isHeldByReaders: Bool { unread.isHeld && connectionWindowLeft < Self.frameByteCount }

    /// NIO's handler counts another size of the connection's window, which received bytes have reduced.
    func connectionChanged(counted: Int) {
        connectionWindowLeft = counted + (uncounted[.rootStream] ?? 0)
        openConnection()
    }

    /// Readers consumed bytes, perhaps of responses that have ended.
    func readersConsumed() {
        if unread.isHeld { openConnection() }
    }

    /// Opens the connection's window again after bytes were received, even on streams that were reset, as far as the
    /// unread bytes stay within ``maximumUnreadByteCount``.
    private func openConnection() {
        guard connectionWindowLeft <= connectionWindow / 2, !isStopped else { return }
        // Reads are reported from now on, and reads until now are counted below.
        unread.isHeld = true
        let credit = min(connectionWindow, maximumUnreadByteCount - unread.count) - connectionWindowLeft
        guard credit >= connectionWindow / 4 else { return }
        unread.isHeld = false
        connectionWindowLeft += credit
        grant(credit, on: .rootStream)
    }
}
