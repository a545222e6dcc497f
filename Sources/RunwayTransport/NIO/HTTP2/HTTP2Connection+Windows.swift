import NIOCore
import NIOHTTP2

/// Flow control of what the server sends.
extension HTTP2Connection {
    /// The largest frame that a server sends (RFC 9113 §6.5.2), which waits for a window of its size.
    private static let frameByteCount = 16_384

    /// Records the new size of a receive window, which received bytes have reduced or our WINDOW_UPDATE has increased.
    func windowChanged(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard let window = event.inboundWindowSize else { return }
        if event.streamID == .rootStream {
            connectionWindowLeft = window
            openConnectionWindow()
        } else if let stream = streams[event.streamID] {
            stream.window = window + pendingWindowIncrement
            openWindow(of: stream)
        } else if let tunnel = tunnels[event.streamID] {
            tunnel.window = window + pendingWindowIncrement
            openWindow(of: tunnel)
        }
    }

    func consumed(_ byteCount: Int, of exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return readersConsumed() }
        stream.unreadByteCount -= byteCount
        stream.lastProgress = .now()
        openWindow(of: stream)
        readersConsumed()
    }

    /// Restores the connection's window after bytes were received, also on streams that were reset, as far as the unread bytes stay
    /// within ``maximumUnreadByteCount``.
    func openConnectionWindow() {
        guard connectionWindowLeft <= connectionWindow / 2, !isClosed else { return }
        // Reads are reported from now on, and reads until now are counted below.
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

    /// Whether the server can't send before a reader consumes bytes, so that it does not count as silent.
    var isHeldByReaders: Bool { unreadBytes.isHeld && connectionWindowLeft < Self.frameByteCount }

    func openWindow(of stream: HTTP2Stream) {
        stream.window += openWindow(of: stream.id, by: stream.credit(of: streamWindow))
    }

    func openWindow(of tunnel: HTTP2Tunnel) {
        if tunnel.hasEnded { return }
        tunnel.window += openWindow(of: tunnel.id, by: streamWindow - tunnel.window - tunnel.unreadByteCount)
    }

    /// Increases the window of a stream, if the credit is large enough for a WINDOW_UPDATE frame. Returns by how much.
    private func openWindow(of id: HTTP2StreamID, by credit: Int) -> Int {
        guard credit >= streamWindow / 4, !isClosed else { return 0 }
        write(id, .windowUpdate(windowSizeIncrement: credit))
        flushSoon()
        return credit
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
        } else if windowExceedsMaximum(stream) {
            fail(
                stream, WireError.malformed("a WINDOW_UPDATE makes a flow-control window larger than 2^31-1"),
                .flowControlError)
        }
    }

    /// Sets the initial size of the server's windows. Returns `false` if a window becomes too large (RFC 9113 §6.9.2).
    func followWindow(in settings: HTTP2Settings) -> Bool {
        for setting in settings where setting.parameter == .initialWindowSize {
            peerStreamWindow = setting.value
            if streams.values.contains(where: windowExceedsMaximum) { return false }
        }
        return true
    }

    /// Whether the window that the server has granted to a stream exceeds the maximum (RFC 9113 §6.9.1). Bytes that are written but not
    /// flushed count as sent.
    private func windowExceedsMaximum(_ stream: HTTP2Stream) -> Bool {
        peerStreamWindow + stream.grantedByteCount - stream.sentByteCount > Int(Int32.max)
    }
}
