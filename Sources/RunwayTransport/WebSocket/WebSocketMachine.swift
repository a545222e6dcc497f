import NIOCore
import NIOWebSocket
import Runway

/// Decides how a client reacts to the frames of a WebSocket (RFC 6455 §5 to §7). It performs no I/O and reads no clock.
///
/// ``WebSocketHandler`` passes every frame and event to the machine, and performs the returned actions in order.
struct WebSocketMachine {
    enum Action: Equatable {
        case deliver(WebSocketPayload)
        /// Respond to a ping with these bytes. Only the latest ping needs a response (RFC 6455 §5.5.3).
        case pong(ByteBuffer)
        /// Send a close frame, which is the last frame.
        case sendClose(WebSocketClose)
        /// Report the end to the reader after all earlier messages. The value is `nil` for an orderly end.
        case end(WebSocketProblem?)
        /// Wait for the server to close the connection (RFC 6455 §7.1.1), and close it if this takes too long.
        case awaitClose
        /// Close the connection immediately.
        case cut
    }

    private enum State: Equatable {
        case open
        /// The client has sent a close frame, and the server has not.
        case closing
        /// The end was reported to the reader. Further frames are ignored.
        case ended
        case cut
    }

    private let maximumMessageByteCount: Int
    private let inflater: MessageInflater?
    private var state = State.open
    private var message: MessageAssembly?
    /// The close frames that were received and sent.
    private(set) var received: WebSocketClose?
    private(set) var sent: WebSocketClose?

    /// Creates the machine for a completed handshake.
    ///
    /// - Parameters:
    ///   - maximumMessageByteCount: The maximum size of a decompressed message in bytes.
    ///   - inflater: Decompresses messages; `nil` if compression was not negotiated.
    init(maximumMessageByteCount: Int, inflater: MessageInflater? = nil) {
        self.maximumMessageByteCount = maximumMessageByteCount
        self.inflater = inflater
    }

    var isOpen: Bool { state == .open }
    /// Whether the end was reported to the reader.
    var isEnded: Bool { state == .ended || state == .cut }

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

    /// Handles received bytes that are not a valid frame.
    mutating func receive(_ error: NIOWebSocketError) -> [Action] {
        switch error {
        case .invalidFrameLength:
            fail(.violation(code: 1009, "a frame has more than \(maximumMessageByteCount) bytes"))
        case .fragmentedControlFrame: fail(Self.broken("a control frame is fragmented"))
        case .multiByteControlFrameLength: fail(Self.broken("a control frame has more than 125 bytes"))
        }
    }

    /// Starts to close the connection. The close frame must be valid.
    mutating func close(_ close: WebSocketClose) -> [Action] {
        guard state == .open else { return [] }
        state = .closing
        sent = close
        return [.sendClose(close), .awaitClose]
    }

    /// Handles a server that did not close the connection in time.
    mutating func closeTimedOut() -> [Action] { cut(failing: .closeTimedOut) }

    /// Closes the connection immediately. The reader receives the problem.
    mutating func cut(failing problem: WebSocketProblem) -> [Action] {
        defer { state = .cut }
        switch state {
        case .open, .closing: return [.end(problem), .cut]
        case .ended: return [.cut]
        case .cut: return []
        }
    }

    mutating func channelClosed() -> [Action] {
        defer { state = .cut }
        return isEnded ? [] : [.end(.lost)]
    }

    private static func broken(_ reason: String) -> WebSocketProblem { .violation(code: 1002, reason) }

    private func check(_ frame: WebSocketFrame) throws(WebSocketProblem) {
        // A server must not mask frames (RFC 6455 §5.1).
        guard frame.maskKey == nil else { throw Self.broken("a frame of the server is masked") }
        let isData = frame.opcode == .text || frame.opcode == .binary
        // Only the first frame of a message marks it as compressed (RFC 7692 §6.1).
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
        // The response repeats the received code (RFC 6455 §5.5.1).
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
    /// Parses the payload of a close frame (RFC 6455 §5.5.1).
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

    /// Returns whether a close frame may have a code (RFC 6455 §7.4, and IANA's registry).
    static func isValid(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    var payload: ByteBuffer {
        guard let code else { return ByteBuffer() }
        var buffer = ByteBuffer(integer: code)
        buffer.writeBytes(reasonBytes)
        return buffer
    }
}
