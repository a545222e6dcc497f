import NIOCore
import NIOHTTP2

/// How much the server may send.
extension HTTP2Connection {
    /// The largest frame that a server sends (RFC 9113 §6.5.2); one that has no room for it may wait.
    private static let frameByteCount = 16_384

    /// The server used up a part of a window, or we opened it.
    func windowChanged(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard let window = event.inboundWindowSize else { return }
        if event.streamID == .rootStream {
            connectionWindowLeft = window
            openConnectionWindow()
        } else if let stream = streams[event.streamID] {
            stream.window = window + windowToCome
            openWindow(of: stream)
        }
    }

    func readerTook(_ byteCount: Int, of exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return readersTook() }
        stream.untakenByteCount -= byteCount
        stream.lastProgress = .now()
        openWindow(of: stream)
        readersTook()
    }

    /// Lets the server send again as much as came, also for streams that were given up, so that nothing of the window is lost; but no
    /// more than readers may leave unread.
    func openConnectionWindow() {
        guard connectionWindowLeft <= connectionWindow / 2, !isClosed else { return }
        // Who reads from now on tells, and what was read until now is seen below.
        unreadBytes.isHeld = true
        let credit = min(connectionWindow, maximumUnreadByteCount - unreadBytes.count) - connectionWindowLeft
        guard credit >= connectionWindow / 4 else { return }
        unreadBytes.isHeld = false
        connectionWindowLeft += credit
        write(.rootStream, .windowUpdate(windowSizeIncrement: credit))
        flushSoon()
    }

    func readersTook() {
        if unreadBytes.isHeld { openConnectionWindow() }
    }

    /// Whether the server may send no more until somebody reads, so that its silence is not its own.
    var isHeldByReaders: Bool { unreadBytes.isHeld && connectionWindowLeft < Self.frameByteCount }

    func openWindow(of stream: HTTP2Stream) {
        let credit = stream.credit(of: streamWindow)
        guard credit >= streamWindow / 4, !isClosed else { return }
        stream.window += credit
        write(stream.id, .windowUpdate(windowSizeIncrement: credit))
        flushSoon()
    }
}
