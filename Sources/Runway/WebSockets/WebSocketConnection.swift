/// An open WebSocket, as a transport attaches it to the response that ended the handshake.
///
/// The release of the last reference closes it.
package protocol WebSocketConnection: AnyObject, Sendable {
    /// What the handshake agreed on.
    var agreement: WebSocketAgreement { get }
    /// What happened on the connection so far.
    var status: WebSocketStatus { get }

    /// Waits for the next message; `nil` after both sides have closed the connection in order. One reader may wait at a
    /// time.
    ///
    /// - Throws: The error that ended the connection, after all messages that came before it;
    ///   ``NetworkError/Kind/cancelled`` if the task is cancelled, which leaves the connection open.
    func next() async throws(NetworkError) -> WebSocketPayload?

    /// Sends a message, and returns when the system has taken all of it.
    ///
    /// - Throws: ``NetworkError/Kind/overloaded`` if too many bytes wait to be sent, or the error that ended the
    ///   connection.
    func send(_ payload: WebSocketPayload) async throws(NetworkError)

    /// Sends a ping. The pong counts in ``WebSocketStatus/receivedByteCount``. Returns at once.
    func ping()

    /// Starts the closing handshake, and cuts the connection if the server does not complete it in time. Returns at
    /// once; a second call changes nothing.
    func close(_ close: WebSocketClose)

    /// Cuts the connection at once. Its reader receives the error.
    func abandon(_ error: NetworkError)
}

/// A whole message (RFC 6455 §5.6).
package enum WebSocketPayload: Sendable, Equatable {
    case text(String)
    case binary([UInt8])

    /// The number of bytes, of a text in UTF-8.
    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// Why a connection is closed (RFC 6455 §7.1.5, §7.1.6).
package struct WebSocketClose: Sendable, Equatable {
    /// The status code; `nil` if the close frame has none.
    package var code: UInt16?
    /// The reason, of which at most 123 bytes in UTF-8 are sent.
    package var reason: String

    package init(_ code: UInt16?, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// What of the reason fits into a close frame, in UTF-8.
    package var reasonBytes: [UInt8] {
        var byteCount = 0
        // A control frame has at most 125 bytes (RFC 6455 §5.5), two of which are the code; no character is cut in two.
        for character in reason.unicodeScalars {
            let longer = byteCount + UTF8.width(character)
            guard longer <= 123 else { break }
            byteCount = longer
        }
        return Array(reason.utf8.prefix(byteCount))
    }
}

/// What a handshake agreed on.
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

/// What happened on a connection so far.
package struct WebSocketStatus: Sendable, Equatable {
    /// Bytes of frames in either direction, before TLS. Any byte that comes shows that the server is there. A WebSocket
    /// may carry more than an `Int` of 32 bits can count.
    package var receivedByteCount: Int64 = 0
    package var sentByteCount: Int64 = 0
    /// The time since the last byte came, or since the handshake.
    package var silence = Duration.zero
    /// Whole messages in either direction.
    package var receivedMessageCount = 0
    package var sentMessageCount = 0
    /// Whether the connection is not read, since its reader is slow: silence does not mean then that the server is
    /// gone.
    package var isHeldBack = false
    /// The close frame of the server; `nil` before it came.
    package var received: WebSocketClose?
    /// The close frame that was sent; `nil` before.
    package var sent: WebSocketClose?

    package init() {}
}

/// The open WebSocket of a response.
private enum OpenConnection: StageValueKey {
    static var defaultValue: (any WebSocketConnection)? { nil }
}

/// Whether a server responded to a handshake in another way.
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
    /// open it. The default is `false`, such as of a transport that does not know WebSockets.
    package var refusesWebSocket: Bool {
        get { values[RefusedHandshake.self] }
        set { values[RefusedHandshake.self] = newValue }
    }
}
