import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Streams that carry other protocols (RFC 8441).
extension HTTP2Connection {
    func openTunnel(_ head: WireRequestHead, to name: String) -> (any Channel)? {
        let headers = HPACKHeaders(head, expectsContinue: false, connectingTo: name)
        guard acceptsTunnels, accepts(headers) else { return nil }
        let tunnel = HTTP2Tunnel(nextStream(), on: self, window: streamWindow)
        tunnels[tunnel.id] = tunnel
        write(tunnel.id, .headers(.init(headers: headers)))
        watchSilence(.now())
        return tunnel
    }

    /// A frame of a tunnel came. Its WINDOW_UPDATE frames are checked by NIO's handler, as long as the stream is open.
    func receive(_ payload: HTTP2Frame.FramePayload, on tunnel: HTTP2Tunnel) {
        switch payload {
        case .headers(let payload):
            do throws(WireError) {
                try receive(payload, on: tunnel)
            } catch {
                fail(tunnel, error, .protocolError)
            }
        case .data(let payload):
            if case .byteBuffer(let part) = payload.data { tunnel.receive(part) }
            if payload.endStream { tunnel.receiveEnd() }
        case .rstStream(let code): end(tunnel, WireError.reset(code))
        default: break
        }
    }

    private func receive(
        _ payload: HTTP2Frame.FramePayload.Headers, on tunnel: HTTP2Tunnel
    ) throws(WireError) {
        // Fields after the head are trailers, whose order NIO's handler has validated.
        if !tunnel.hasHead {
            let settings = pool.configuration.wire
            let (head, _) = try payload.response(upTo: settings.maximumFieldCount)
            if head.status.kind == .informational {
                tunnel.informationalCount += 1
                guard tunnel.informationalCount <= settings.maximumInformationalResponses else {
                    throw .malformed("there are too many responses of status 1xx")
                }
                return
            }
            tunnel.receive(head)
        }
        if payload.endStream { tunnel.receiveEnd() }
    }

    /// A tunnel consumed bytes that it had buffered.
    func consumed(_ byteCount: Int, of tunnel: HTTP2Tunnel) {
        unreadBytes.subtract(byteCount)
        openWindow(of: tunnel)
        readersConsumed()
    }

    /// The client closes a tunnel: in order after the server has ended its side, otherwise by a reset (RFC 8441 §5).
    ///
    /// Behind bytes that wait for the server's window an END_STREAM might never be sent, and those who wrote them would wait.
    func close(_ tunnel: HTTP2Tunnel) {
        guard remove(tunnel) else { return }
        if tunnel.hasEnded, tunnel.unwrittenByteCount == 0 {
            write(tunnel.id, .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
        } else {
            write(tunnel.id, .rstStream(.cancel))
        }
        flushSoon()
        pool.ended(id)
    }

    /// Resets a tunnel because of an error.
    func fail(_ tunnel: HTTP2Tunnel, _ error: any Error, _ code: NIOHTTP2.HTTP2ErrorCode = .cancel) {
        guard remove(tunnel) else { return }
        write(tunnel.id, .rstStream(code))
        flushSoon()
        pool.ended(id)
        tunnel.end(error)
    }

    /// The stream of a tunnel was closed by the server, or by an error of it.
    func end(_ tunnel: HTTP2Tunnel, _ error: any Error) {
        guard remove(tunnel) else { return }
        pool.ended(id)
        tunnel.end(error)
    }

    private func remove(_ tunnel: HTTP2Tunnel) -> Bool {
        guard tunnels.removeValue(forKey: tunnel.id) != nil else { return false }
        unreadBytes.subtract(tunnel.unreadByteCount)
        return true
    }

    /// Removes all tunnels, since the connection ends.
    func takeTunnels() -> [HTTP2Tunnel] {
        defer { tunnels = [:] }
        return tunnels.values.sorted { $0.id < $1.id }
    }
}
