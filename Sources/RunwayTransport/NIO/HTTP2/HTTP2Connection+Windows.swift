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

    func consumed(_ byteCount: Int, of exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return readersConsumed() }
        stream.unreadByteCount -= byteCount
        stream.lastProgress = .now()
        openWindow(of: stream)
        readersConsumed()
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

    func readersConsumed() {
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

/// Flow-control windows that the server grants. NIO's handler checks them only for streams whose request is still being sent; this
/// checks them for streams whose request was sent in full.
extension HTTP2Connection {
    /// The server opened its window of a stream (RFC 9113 §6.9, §6.9.1).
    func receive(windowUpdate increment: Int, on id: HTTP2StreamID) {
        guard let stream = streams[id] else { return }
        stream.grantedByteCount += increment
        if increment == 0 {
            fail(stream, WireError.malformed("a WINDOW_UPDATE has an increment of 0"), .protocolError)
        } else if isTooOpen(stream) {
            fail(
                stream, WireError.malformed("a WINDOW_UPDATE makes a flow-control window larger than 2^31-1"),
                .flowControlError)
        }
    }

    /// Follows the size that the windows of the server have at first; `false` where one becomes too large (RFC 9113 §6.9.2).
    func followWindow(in settings: HTTP2Settings) -> Bool {
        for setting in settings where setting.parameter == .initialWindowSize {
            peerStreamWindow = setting.value
            if streams.values.contains(where: isTooOpen) { return false }
        }
        return true
    }

    /// Whether a window of the server is larger than a window may be. What is written and waits counts as sent.
    private func isTooOpen(_ stream: HTTP2Stream) -> Bool {
        peerStreamWindow + stream.grantedByteCount - stream.sentByteCount > Int(Int32.max)
    }
}
