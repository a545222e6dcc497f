import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The streams of a connection that carry other protocols (RFC 8441).
///
/// Tunnels report buffered and consumed bytes, and write through this object; the connection passes on the server's
/// frames. Each tunnel occupies a slot of the pool until it ends.
final class HTTP2Tunnels {
    let sender: HTTP2Sender
    private let id: ConnectionID
    private let pool: OriginPool
    private let windows: HTTP2ReceiveWindows
    private var tunnels: [HTTP2StreamID: HTTP2Tunnel] = [:]

    init(of id: ConnectionID, in pool: OriginPool, _ sender: HTTP2Sender, _ windows: HTTP2ReceiveWindows) {
        (self.id, self.pool) = (id, pool)
        (self.sender, self.windows) = (sender, windows)
    }

    var isEmpty: Bool { tunnels.isEmpty }

    /// Whether the server has accepted every tunnel.
    var areAccepted: Bool { tunnels.values.allSatisfy(\.hasHead) }

    subscript(_ id: HTTP2StreamID) -> HTTP2Tunnel? { tunnels[id] }

    /// Opens a tunnel.
    ///
    /// - Parameters:
    ///   - id: The tunnel's stream.
    ///   - head: The extended CONNECT.
    func open(_ id: HTTP2StreamID, _ head: HPACKHeaders) -> HTTP2Tunnel {
        let tunnel = HTTP2Tunnel(id, in: self, window: windows.streamWindow)
        tunnels[id] = tunnel
        sender.write(id, .headers(.init(headers: head)))
        return tunnel
    }

    /// Removes all tunnels at the end of the connection, and returns them in order of stream number.
    func takeAll() -> [HTTP2Tunnel] {
        defer { tunnels = [:] }
        return tunnels.values.sorted { $0.id < $1.id }
    }
}

extension HTTP2Tunnels {
    /// Receives a frame of a tunnel. NIO's handler checks WINDOW_UPDATE frames of open streams.
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
        // After the head, these are trailers. NIO's handler has checked that they end the stream.
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

    /// Handles a new size of the receive window of a tunnel's stream.
    func windowChanged(of tunnel: HTTP2Tunnel, left: Int) {
        tunnel.window = left
        openWindow(of: tunnel)
    }

    /// Handles a GOAWAY: the server will not process streams with numbers above `last`.
    func receiveGoAway(_ last: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode) {
        for tunnel in tunnels.values where tunnel.id > last { end(tunnel, WireError.goneAway(code)) }
    }

    /// Resets a tunnel because of an error.
    func fail(_ tunnel: HTTP2Tunnel, _ error: any Error, _ code: NIOHTTP2.HTTP2ErrorCode = .cancel) {
        guard remove(tunnel) else { return }
        sender.write(tunnel.id, .rstStream(code))
        sender.flushSoon()
        pool.ended(id)
        tunnel.end(error)
    }

    /// Ends a tunnel whose stream was closed by the server, or because of an error of the server.
    func end(_ tunnel: HTTP2Tunnel, _ error: any Error) {
        guard remove(tunnel) else { return }
        pool.ended(id)
        tunnel.end(error)
    }
}

extension HTTP2Tunnels {
    func buffered(_ byteCount: Int) { windows.unread.add(byteCount) }

    /// Records that a tunnel consumed buffered bytes.
    func consumed(_ byteCount: Int, of tunnel: HTTP2Tunnel) {
        windows.unread.subtract(byteCount)
        openWindow(of: tunnel)
        windows.readersConsumed()
    }

    /// Closes a tunnel: orderly if the server has ended its side and all bytes are written, otherwise with a reset (RFC
    /// 8441 §5).
    ///
    /// Behind bytes that wait for the server's window, an END_STREAM could be delayed forever, and the writers of these
    /// bytes would wait forever.
    func close(_ tunnel: HTTP2Tunnel) {
        guard remove(tunnel) else { return }
        if tunnel.hasEnded, tunnel.unwrittenByteCount == 0 {
            sender.write(tunnel.id, .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
        } else {
            sender.write(tunnel.id, .rstStream(.cancel))
        }
        sender.flushSoon()
        pool.ended(id)
    }

    private func openWindow(of tunnel: HTTP2Tunnel) {
        if tunnel.hasEnded { return }
        tunnel.window = windows.open(tunnel.id, left: tunnel.window, unread: tunnel.unreadByteCount)
    }

    private func remove(_ tunnel: HTTP2Tunnel) -> Bool {
        guard tunnels.removeValue(forKey: tunnel.id) != nil else { return false }
        windows.unread.subtract(tunnel.unreadByteCount)
        windows.forget(tunnel.id)
        return true
    }
}
