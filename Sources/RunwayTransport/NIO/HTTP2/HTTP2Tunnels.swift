import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The streams of a connection that carry other protocols (RFC 8441).
///
/// Tunnels report buffered and consumed bytes to it and write through it; the connection reports the server's frames to
/// it. Each tunnel occupies a slot of the pool until it ends.
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
    ///   - id: The number of the tunnel's stream.
    ///   - head: The extended CONNECT.
    func open(_ id: HTTP2StreamID, _ head: HPACKHeaders) -> HTTP2Tunnel {
        let tunnel = HTTP2Tunnel(id, in: self, window: windows.streamWindow)
        tunnels[id] = tunnel
        sender.write(id, .headers(.init(headers: head)))
        return tunnel
    }

    /// Removes all tunnels, since the connection ends, and returns them in the order of their streams.
    func takeAll() -> [HTTP2Tunnel] {
        defer { tunnels = [:] }
        return tunnels.values.sorted { $0.id < $1.id }
    }
}

/// Reports of the connection.
extension HTTP2Tunnels {
    /// Receives a frame of a tunnel. WINDOW_UPDATE frames of an open stream are checked by NIO's handler.
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

    /// Notes that the window in which the server sends on a tunnel's stream has a new size.
    func windowChanged(of tunnel: HTTP2Tunnel, left: Int) {
        tunnel.window = left
        openWindow(of: tunnel)
    }

    /// Notes that the server will not process streams with numbers greater than this one.
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

    /// Notes that the server closed the stream of a tunnel, or an error of the server did.
    func end(_ tunnel: HTTP2Tunnel, _ error: any Error) {
        guard remove(tunnel) else { return }
        pool.ended(id)
        tunnel.end(error)
    }
}

/// Reports of tunnels.
extension HTTP2Tunnels {
    /// Notes that a tunnel has buffered bytes that arrived.
    func buffered(_ byteCount: Int) { windows.unread.add(byteCount) }

    /// Notes that a tunnel consumed bytes that it had buffered.
    func consumed(_ byteCount: Int, of tunnel: HTTP2Tunnel) {
        windows.unread.subtract(byteCount)
        openWindow(of: tunnel)
        windows.readersConsumed()
    }

    /// Closes a tunnel: in order if the server has ended its side, otherwise by a reset (RFC 8441 §5).
    ///
    /// An END_STREAM might never be sent behind bytes that wait for the server's window, and their writers would wait
    /// forever.
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
