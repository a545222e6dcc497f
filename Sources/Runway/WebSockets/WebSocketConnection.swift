/// An open WebSocket, which a transport attaches to the response that ended the handshake.
///
/// Releasing the last reference closes the connection.
package protocol WebSocketConnection: AnyObject, Sendable {
    /// The result of the handshake.
    var agreement: WebSocketAgreement { get }
    /// The status of the connection so far.
    var status: WebSocketStatus { get }

    /// Waits for the next message; returns `nil` after both sides have closed the connection in order. Only one reader
    /// may wait at a time.
    ///
    /// - Throws: The error that ended the connection, after all earlier messages; ``NetworkError/Kind/cancelled`` if
    ///   the task is cancelled, which leaves the connection open.
    func next() async throws(NetworkError) -> WebSocketPayload?

    /// Sends a message, and returns when the system has taken all of it.
    ///
    /// - Throws: ``NetworkError/Kind/overloaded`` if too many bytes wait to be sent, or the error that ended the
    ///   connection.
    func send(_ payload: WebSocketPayload) async throws(NetworkError)

    /// Sends a ping. The pong counts in ``WebSocketStatus/receivedByteCount``. Returns at once.
    func ping()

    /// Starts the closing handshake, and closes the connection if the server does not complete the handshake in time.
    /// Returns at once; a second call changes nothing.
    func close(_ close: WebSocketClose)

    /// Closes the connection at once. Its reader receives the error.
    func abandon(_ error: NetworkError)
}

/// A whole message (RFC 6455 §5.6).
package enum WebSocketPayload: Sendable, Equatable {
    case text(String)
    case binary([UInt8])

    /// The number of bytes; for a text in UTF-8.
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
    /// The reason as text; at most 123 bytes of it in UTF-8 are sent.
    package var reason: String

    package init(_ code: UInt16?, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// The part of the reason that fits into a close frame, in UTF-8.
    package var reasonBytes: [UInt8] {
        var byteCount = 0
        // A control frame has at most 125 bytes (RFC 6455 §5.5), including two for the code; no character is cut in
        // two.
        for character in reason.unicodeScalars {
            let longer = byteCount + UTF8.width(character)
            guard longer <= 123 else { break }
            byteCount = longer
        }
        return Array(reason.utf8.prefix(byteCount))
    }
}

/// The result of a handshake.
package struct WebSocketAgreement: Sendable, Equatable {
    /// The subprotocol; `nil` if there is none.
    package var subprotocol: String?
    /// The extension with its parameters, as the server accepted it; `nil` if there is none.
    package var extensions: String?

    package init(subprotocol: String? = nil, extensions: String? = nil) {
        self.subprotocol = subprotocol
        self.extensions = extensions
    }
}

/// The status of a connection so far.
package struct WebSocketStatus: Sendable, Equatable {
    /// Bytes of frames in each direction, before TLS. Any received byte shows that the server is reachable. A WebSocket
    /// may carry more bytes than an `Int` of 32 bits can count.
    package var receivedByteCount: Int64 = 0
    package var sentByteCount: Int64 = 0
    /// The time since the last byte arrived, or since the handshake.
    package var silence = Duration.zero
    /// Whole messages in each direction.
    package var receivedMessageCount = 0
    package var sentMessageCount = 0
    /// Whether the connection is not read, since its reader is slow: silence then does not mean that the server is
    /// gone.
    package var isHeldBack = false
    /// The close frame of the server; `nil` before it arrives.
    package var received: WebSocketClose?
    /// The close frame that was sent; `nil` before it is sent.
    package var sent: WebSocketClose?

    package init() {}
}

/// The open WebSocket of a response.
private enum OpenConnection: StageValueKey {
    static var defaultValue: (any WebSocketConnection)? { nil }
}

/// Whether a server refused a handshake.
private enum RefusedHandshake: StageValueKey {
    static var defaultValue: Bool { false }
}

extension Response {
    /// The WebSocket that the handshake opened; `nil` for all other responses.
    package var webSocket: (any WebSocketConnection)? {
        get { values[OpenConnection.self] }
        set { values[OpenConnection.self] = newValue }
    }

    /// Whether a transport has sent the handshake of a WebSocket, and this is the response of a server that did not
    /// open it. The default is `false`, for example for a transport that does not support WebSockets.
    package var refusesWebSocket: Bool {
        get { values[RefusedHandshake.self] }
        set { values[RefusedHandshake.self] = newValue }
    }
}
