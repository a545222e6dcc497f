import Runway

/// The reason why a handshake failed, or a WebSocket did not end in an orderly way.
enum WebSocketProblem: Error, Equatable {
    /// The server's response to the handshake is invalid, for the given reason.
    case handshake(String)
    /// The server violated the protocol. The code is sent to the server.
    case violation(code: UInt16, String)
    /// The connection ended without the server's close frame.
    case lost
    /// The server did not complete the closing handshake in time.
    case closeTimedOut
    /// Too many bytes are not sent yet.
    case tooMuchUnsent(limit: Int)
    case closed
    /// The offer is invalid, for the given reason.
    case invalidOffer(String)

    /// Returns the kind and the sentence of the error that is shown to the caller.
    func meaning(_ place: String) -> (NetworkError.Kind, String) {
        switch self {
        case .handshake(let reason):
            (.invalidResponse, "The response of \(place) opens no WebSocket: \(reason).")
        case .violation(let code, let reason):
            (.invalidResponse, "\(place) broke the rules of WebSocket, and was sent code \(code): \(reason).")
        case .lost: (.noNetwork, "The WebSocket to \(place) was lost.")
        case .closeTimedOut: (.timedOut, "\(place) did not close the WebSocket in time.")
        case .tooMuchUnsent(let limit):
            (.overloaded, "More than \(limit) bytes wait to be sent to \(place) already.")
        case .closed: (.noNetwork, "The WebSocket to \(place) is closed.")
        case .invalidOffer(let reason): (.invalidConfiguration, "No WebSocket can be opened: \(reason).")
        }
    }

    /// Whether any part of the message or of the handshake was sent, if the error shows it.
    var sending: SendState {
        switch self {
        case .invalidOffer, .tooMuchUnsent, .closed: .notSent
        case .handshake: .sent
        case .violation, .lost, .closeTimedOut: .unknown
        }
    }
}
