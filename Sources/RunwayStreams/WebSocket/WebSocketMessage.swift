import Runway

/// A complete message of a WebSocket (RFC 6455 §5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])
}

/// A close code: the reason why a peer closes a WebSocket (RFC 6455 §7.4).
public struct WebSocketCloseCode: Sendable, Hashable, CustomStringConvertible {
    /// The number of the code in a close frame.
    public let number: UInt16

    /// Creates a close code. Only 1000 to 1003, 1007 to 1014 and 3000 to 4999 can be sent.
    public init(_ number: UInt16) { self.number = number }

    /// 1000: the connection has served its purpose.
    public static let normal = WebSocketCloseCode(1000)
    /// 1001: the server shuts down, or the user leaves.
    public static let goingAway = WebSocketCloseCode(1001)
    /// 1002: the peer violated the protocol.
    public static let protocolError = WebSocketCloseCode(1002)
    /// 1007: a text was not UTF-8, or a message could not be decompressed.
    public static let invalidData = WebSocketCloseCode(1007)
    /// 1008: the peer violated a policy.
    public static let policyViolation = WebSocketCloseCode(1008)
    /// 1009: a message was too large.
    public static let messageTooLarge = WebSocketCloseCode(1009)
    /// 1011: the server had an internal error.
    public static let serverError = WebSocketCloseCode(1011)
    /// 1012: the server restarts.
    public static let serviceRestart = WebSocketCloseCode(1012)
    /// 1013: the server is overloaded.
    public static let tryAgainLater = WebSocketCloseCode(1013)
    /// 1014: a gateway received an invalid response from its upstream server.
    public static let badGateway = WebSocketCloseCode(1014)

    /// The number of the code as text.
    public var description: String { "\(number)" }

    /// Whether a close frame may have the code.
    var isSendable: Bool {
        switch number {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// The close frame of a server: the reason why the server closed a connection of a WebSocket (RFC 6455 §5.5.1).
///
/// If the frame ends the WebSocket with an error, the frame is the `NetworkError.underlying` of that error:
///
/// ```swift
/// func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?) {
///     let frame = error?.underlying as? WebSocketCloseFrame
///     if frame?.code == WebSocketCloseCode(4401) { showPlans(frame?.reason) }
/// }
/// ```
public struct WebSocketCloseFrame: Error, Sendable, Hashable, CustomStringConvertible {
    /// The close code; `nil` if the frame has none.
    public let code: WebSocketCloseCode?
    /// The reason that the server sent, at most 123 bytes of UTF-8; empty if it sent none.
    public let reason: String

    /// The code and the reason on one line.
    public var description: String {
        let code = code.map { "code \($0)" } ?? "no code"
        return reason.isEmpty ? code : "\(code), \"\(reason.oneLine)\""
    }

    init(_ close: WebSocketClose) {
        code = close.code.map { WebSocketCloseCode($0) }
        reason = close.reason
    }
}

/// The properties of an open WebSocket connection.
public struct WebSocketLink: Sendable, Hashable {
    /// The number of the connection; the first is 1. Messages that the server sent between two connections may be lost,
    /// since WebSocket has no way to resume.
    public let number: Int
    /// The subprotocol that the server chose; `nil` if it chose none.
    public let subprotocol: String?
    /// The extensions in use, as the server named them; `nil` if there are none.
    public let extensions: String?
    /// The server's close frame of the previous connection. `nil` for the first connection, and if the previous one was
    /// lost or closed by the client.
    public let previousClose: WebSocketCloseFrame?
}

/// An element of a ``WebSocketSequence``.
public enum WebSocketElement: Sendable, Hashable {
    /// A connection has opened. If it is not the first, messages may have been lost before.
    case connected(WebSocketLink)
    /// The server sent a message.
    case message(WebSocketMessage)
}

extension WebSocketMessage {
    init(_ payload: WebSocketPayload) {
        self =
            switch payload {
            case .text(let text): .text(text)
            case .binary(let bytes): .binary(bytes)
            }
    }

    var payload: WebSocketPayload {
        switch self {
        case .text(let text): .text(text)
        case .binary(let bytes): .binary(bytes)
        }
    }
}
