import Runway

/// The reason why a handshake failed or a WebSocket did not end in order.
enum WebSocketProblem: Error, Equatable {
    /// The server's response to the handshake is invalid, for this reason.
    case handshake(String)
    /// The server broke the protocol: the code that it is sent, and the reason.
    case violation(code: UInt16, String)
    /// The connection ended without the server's close frame.
    case lost
    /// The server did not complete the closing handshake in time.
    case closeTimedOut
    /// More bytes than this wait to be sent already.
    case tooMuchUnsent(limit: Int)
    /// The client has closed the connection.
    case closed
    /// The offer can't be made, for this reason.
    case invalidOffer(String)

    /// Returns the kind and the sentence that a caller sees.
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

    /// Whether any of the message or of the handshake was sent, as far as the error shows.
    var sending: SendState {
        switch self {
        case .invalidOffer, .tooMuchUnsent, .closed: .notSent
        case .handshake: .sent
        case .violation, .lost, .closeTimedOut: .unknown
        }
    }
}
