/// An open WebSocket. A transport attaches it to the response that completed the handshake.
///
/// Releasing the last reference closes the connection.
package protocol WebSocketConnection: AnyObject, Sendable {
    var agreement: WebSocketAgreement { get }
    var status: WebSocketStatus { get }

    /// Waits for the next message. Returns `nil` after both sides have closed the connection cleanly. Only one reader
    /// may wait at a time.
    ///
    /// - Throws: The error that ended the connection, after all earlier messages; ``NetworkError/Kind/cancelled`` if
    ///   the task is cancelled, which leaves the connection open.
    func next() async throws(NetworkError) -> WebSocketPayload?

    /// Sends a message. Returns when the system has taken all of it.
    ///
    /// - Throws: ``NetworkError/Kind/overloaded`` if too many bytes wait to be sent; the error that ended the
    ///   connection.
    func send(_ payload: WebSocketPayload) async throws(NetworkError)

    /// Sends a ping and returns immediately. The pong is counted in ``WebSocketStatus/receivedByteCount``.
    func ping()

    /// Starts the closing handshake and returns immediately. Closes the connection if the server does not complete the
    /// handshake in time. A second call has no effect.
    func close(_ close: WebSocketClose)

    /// Closes the connection at once. Its reader receives the error.
    func abandon(_ error: NetworkError)
}

/// A complete message (RFC 6455 §5.6).
package enum WebSocketPayload: Sendable, Equatable {
    case text(String)
    case binary([UInt8])

    /// The number of bytes; for a text, in UTF-8.
    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// The reason why a connection is closed (RFC 6455 §7.1.5, §7.1.6).
package struct WebSocketClose: Sendable, Equatable {
    /// The status code; `nil` if the close frame has none.
    package var code: UInt16?
    /// The reason as text. At most 123 bytes of its UTF-8 form are sent.
    package var reason: String

    package init(_ code: UInt16?, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// The part of the reason that fits into a close frame, in UTF-8.
    package var reasonBytes: [UInt8] {
        var byteCount = 0
        // A control frame has at most 125 bytes (RFC 6455 §5.5), including two for the code. No character may be split.
        for character in reason.unicodeScalars {
            let longer = byteCount + UTF8.width(character)
            guard longer <= 123 else { break }
            byteCount = longer
        }
        return Array(reason.utf8.prefix(byteCount))
    }
}

package struct WebSocketAgreement: Sendable, Equatable {
    /// The agreed subprotocol; `nil` if there is none.
    package var subprotocol: String?
    /// The extension with its parameters, as the server accepted it; `nil` if there is none.
    package var extensions: String?

    package init(subprotocol: String? = nil, extensions: String? = nil) {
        self.subprotocol = subprotocol
        self.extensions = extensions
    }
}

package struct WebSocketStatus: Sendable, Equatable {
    /// The number of received bytes of frames, after TLS decryption. Any received byte shows that the server is
    /// reachable. The type is `Int64` because a WebSocket may carry more bytes than a 32-bit `Int` can count.
    package var receivedByteCount: Int64 = 0
    /// The number of sent bytes of frames, before TLS encryption.
    package var sentByteCount: Int64 = 0
    /// The time since the last byte arrived, or since the handshake.
    package var silence = Duration.zero
    /// The number of complete messages that were received.
    package var receivedMessageCount = 0
    /// The number of complete messages that were sent.
    package var sentMessageCount = 0
    /// Whether the connection is not read because its reader is slow. Silence then does not mean that the server is
    /// gone.
    package var isHeldBack = false
    /// The close frame of the server; `nil` before it arrives.
    package var received: WebSocketClose?
    /// The close frame that was sent; `nil` before it is sent.
    package var sent: WebSocketClose?

    package init() {}
}

private enum OpenConnection: StageValueKey {
    static var defaultValue: (any WebSocketConnection)? { nil }
}

private enum RefusedHandshake: StageValueKey {
    static var defaultValue: Bool { false }
}

extension Response {
    /// The WebSocket that the handshake opened; `nil` for all other responses.
    package var webSocket: (any WebSocketConnection)? {
        get { values[OpenConnection.self] }
        set { values[OpenConnection.self] = newValue }
    }

    /// Whether this is the response of a server that refused the handshake of a WebSocket. The default is `false`, for
    /// example for a transport that does not support WebSockets.
    package var refusesWebSocket: Bool {
        get { values[RefusedHandshake.self] }
        set { values[RefusedHandshake.self] = newValue }
    }
}
