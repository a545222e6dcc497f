import NIOCore
import NIOWebSocket
import Runway

/// Decides a client's reactions to the frames of a WebSocket (RFC 6455 §5 to §7). Pure: it reads no clock, and writes
/// nothing.
///
/// ``WebSocketHandler`` passes every frame and event, and performs the actions in order.
struct WebSocketMachine {
    enum Action: Equatable {
        /// Pass a message to the reader.
        case deliver(WebSocketPayload)
        /// Respond to a ping with these bytes. Only the newest ping needs a response (RFC 6455 §5.5.3).
        case pong(ByteBuffer)
        /// Send a close frame; it is the last frame.
        case sendClose(WebSocketClose)
        /// Report the end to the reader, after the messages before it: `nil` for an end in order.
        case end(WebSocketProblem?)
        /// Let the server close the connection (RFC 6455 §7.1.1), and cut it if that takes too long.
        case awaitClose
        /// Close the connection at once.
        case cut
    }

    private enum State: Equatable {
        case open
        /// The client's close frame was sent, the server's was not received.
        case closing
        /// The end was reported to the reader; further frames are ignored.
        case ended
        case cut
    }

    private let maximumMessageByteCount: Int
    private let inflater: MessageInflater?
    private var state = State.open
    private var message: MessageAssembly?
    /// The close frames in either direction.
    private(set) var received: WebSocketClose?
    private(set) var sent: WebSocketClose?

    /// Creates the machine of a connection whose handshake is complete.
    ///
    /// - Parameters:
    ///   - maximumMessageByteCount: The most bytes of a message, after decompression.
    ///   - inflater: Decompresses messages; `nil` without an agreement about it.
    init(maximumMessageByteCount: Int, inflater: MessageInflater? = nil) {
        self.maximumMessageByteCount = maximumMessageByteCount
        self.inflater = inflater
    }

    /// Whether messages may be sent.
    var isOpen: Bool { state == .open }
    /// Whether the end was reported to the reader.
    var isEnded: Bool { state == .ended || state == .cut }

    /// Decides the actions for a received frame.
    mutating func receive(_ frame: WebSocketFrame) -> [Action] {
        if isEnded { return [] }
        do throws(WebSocketProblem) {
            try check(frame)
            switch frame.opcode {
            case .ping: return state == .open ? [.pong(frame.data)] : []
            case .pong: return []
            case .connectionClose: return try receiveClose(frame.data)
            case .text, .binary:
                guard message == nil else { throw Self.broken("a message begins within another") }
                message = MessageAssembly(
                    isText: frame.opcode == .text, inflater: frame.rsv1 ? inflater : nil,
                    maximumByteCount: maximumMessageByteCount)
                return try append(frame)
            case .continuation:
                guard message != nil else { throw Self.broken("a continuation continues nothing") }
                return try append(frame)
            default: throw Self.broken("the type of a frame is not known")
            }
        } catch {
            return fail(error)
        }
    }

    /// Decides the actions for received bytes that are not a valid frame.
    mutating func receive(_ error: NIOWebSocketError) -> [Action] {
        switch error {
        case .invalidFrameLength:
            fail(.violation(code: 1009, "a frame has more than \(maximumMessageByteCount) bytes"))
        case .fragmentedControlFrame: fail(Self.broken("a control frame is fragmented"))
        case .multiByteControlFrameLength: fail(Self.broken("a control frame has more than 125 bytes"))
        }
    }

    /// Begins to close the connection. The close frame has to be valid.
    mutating func close(_ close: WebSocketClose) -> [Action] {
        guard state == .open else { return [] }
        state = .closing
        sent = close
        return [.sendClose(close), .awaitClose]
    }

    /// Notes that the server did not close the connection in time.
    mutating func closeTimedOut() -> [Action] { cut(failing: .closeTimedOut) }

    /// Closes the connection at once; the reader receives this problem.
    mutating func cut(failing problem: WebSocketProblem) -> [Action] {
        defer { state = .cut }
        switch state {
        case .open, .closing: return [.end(problem), .cut]
        case .ended: return [.cut]
        case .cut: return []
        }
    }

    /// Notes that the connection was closed.
    mutating func channelClosed() -> [Action] {
        defer { state = .cut }
        return isEnded ? [] : [.end(.lost)]
    }

    private static func broken(_ reason: String) -> WebSocketProblem { .violation(code: 1002, reason) }

    private func check(_ frame: WebSocketFrame) throws(WebSocketProblem) {
        // RFC 6455 §5.1.
        guard frame.maskKey == nil else { throw Self.broken("a frame of the server is masked") }
        let isData = frame.opcode == .text || frame.opcode == .binary
        // Only the first frame of a message says that it is compressed (RFC 7692 §6.1).
        guard !frame.rsv2, !frame.rsv3, !frame.rsv1 || (isData && inflater != nil) else {
            throw Self.broken("a frame has reserved bits set")
        }
        guard frame.opcode.isControlOpcode else { return }
        guard frame.fin else { throw Self.broken("a control frame is fragmented") }
        guard frame.data.readableBytes <= 125 else { throw Self.broken("a control frame has more than 125 bytes") }
    }

    private mutating func append(_ frame: WebSocketFrame) throws(WebSocketProblem) -> [Action] {
        guard let payload = try message?.append(frame.data, isLast: frame.fin) else { return [] }
        message = nil
        return [.deliver(payload)]
    }

    private mutating func receiveClose(_ payload: ByteBuffer) throws(WebSocketProblem) -> [Action] {
        let close = try WebSocketClose(payload)
        received = close
        let isResponse = state == .closing
        state = .ended
        if isResponse { return [.end(nil), .awaitClose] }
        // The response repeats the code (RFC 6455 §5.5.1).
        let response = WebSocketClose(close.code)
        sent = response
        return [.sendClose(response), .end(nil), .awaitClose]
    }

    /// Fails the connection (RFC 6455 §7.1.7).
    private mutating func fail(_ problem: WebSocketProblem) -> [Action] {
        if isEnded { return [] }
        let wasOpen = state == .open
        state = .ended
        message = nil
        guard wasOpen, case .violation(let code, let reason) = problem else { return [.end(problem), .awaitClose] }
        let close = WebSocketClose(code, reason)
        sent = close
        return [.sendClose(close), .end(problem), .awaitClose]
    }
}

extension WebSocketClose {
    /// Reads the payload of a close frame (RFC 6455 §5.5.1).
    ///
    /// - Throws: ``WebSocketProblem/violation(code:_:)``.
    init(_ payload: ByteBuffer) throws(WebSocketProblem) {
        var payload = payload
        if payload.readableBytes == 0 {
            self.init(nil)
            return
        }
        guard let code = payload.readInteger(as: UInt16.self) else {
            throw .violation(code: 1002, "a close frame has half a code")
        }
        guard Self.isValid(code) else { throw .violation(code: 1002, "the code of a close frame is invalid") }
        var validation = UTF8Validation()
        guard validation.accept(payload.readableBytesView), validation.isComplete else {
            throw .violation(code: 1007, "the reason of a close frame is not UTF-8")
        }
        self.init(code, String(buffer: payload))
    }

    /// Whether a close frame may have a code (RFC 6455 §7.4, and IANA's registry).
    static func isValid(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The payload of a close frame.
    var payload: ByteBuffer {
        guard let code else { return ByteBuffer() }
        var buffer = ByteBuffer(integer: code)
        buffer.writeBytes(reasonBytes)
        return buffer
    }
}
