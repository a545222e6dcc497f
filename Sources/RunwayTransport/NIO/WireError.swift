import NIOHTTP2
import Runway

/// An error of a connection, or of a request that has no connection yet.
enum WireError: Error, Equatable {
    case shutDown
    /// The URL of the request cannot be used, for the given reason.
    case unusableURL(String)
    /// A TRACE request had a body (RFC 9110 §9.3.8).
    case traceWithBody
    /// The head of the request is larger than the server accepts over HTTP/2.
    case headTooLarge(limit: Int)
    /// The limit on requests that wait for a connection to the origin is reached.
    case tooManyWaiting(limit: Int)
    /// No connection was established in time.
    case notConnectedInTime
    /// The deadline of the call passed.
    case deadlineExceeded
    /// No byte was written or read for too long.
    case silent
    /// No byte of the response arrived in time.
    case noFirstByte
    /// The server did not acknowledge a PING (RFC 9113 §6.7) in time.
    case pingTimedOut
    /// The device no longer has the local address of the connection.
    case networkGone
    /// The connection ended before the first byte of the response.
    case closed
    /// The connection ended within the response.
    case closedInResponse
    /// Over HTTP/1.1, the server sent bytes before any request.
    case unsolicited
    /// The server switched protocols, although no request asked for it (RFC 9110 §15.2.2).
    case switchedProtocols
    /// The received bytes are invalid or ambiguous as HTTP, for the given reason.
    case malformed(String)
    /// The chunks of an HTTP/1.1 response are malformed, for the given reason.
    case chunks(String)
    /// The body of an HTTP/1.1 response has an unsupported transfer coding.
    case transferCoding(String)
    /// The server reset the stream of the request.
    case reset(HTTP2ErrorCode)
    /// The server closes the connection and did not process the request.
    case goneAway(HTTP2ErrorCode)
    /// The server closed the connection because of an error, and may have processed the request.
    case ended(HTTP2ErrorCode)
}

extension WireError {
    /// Returns the kind and the message of the error that is shown to the caller. `place` names the server in the
    /// message.
    func meaning(_ place: String) -> (NetworkError.Kind, String) {
        switch self {
        case .shutDown: (.noNetwork, "The transport was shut down.")
        case .unusableURL(let reason): (.invalidConfiguration, "The URL of the request can't be used: \(reason).")
        case .traceWithBody: (.invalidParameters, "A TRACE request can't have a body.")
        case .headTooLarge(let limit):
            (
                .invalidParameters,
                "The head of the request is larger than the \(limit) bytes that \(place) accepts over HTTP/2."
            )
        case .tooManyWaiting(let limit):
            (.overloaded, "\(limit) requests are waiting for a connection to \(place) already.")
        case .notConnectedInTime: (.timedOut, "No connection to \(place) could be made in time.")
        case .deadlineExceeded: (.timedOut, "The exchange with \(place) took too long.")
        case .silent: (.timedOut, "\(place) was silent for too long.")
        case .noFirstByte: (.timedOut, "\(place) did not begin to respond in time.")
        case .pingTimedOut: (.noNetwork, "The connection to \(place) was lost: a PING was not acknowledged.")
        case .networkGone: (.noNetwork, "The device left the network that it was connected to \(place) over.")
        case .closed: (.noNetwork, "\(place) closed the connection before the response was complete.")
        case .closedInResponse: (.invalidResponse, "The connection to \(place) ended in the middle of the response.")
        case .unsolicited:
            (.invalidResponse, "\(place) sent bytes before any request, which could be taken for a response.")
        case .switchedProtocols:
            (.invalidResponse, "\(place) responded with status 101, which the request had not asked for.")
        case .malformed(let reason), .chunks(let reason):
            (.invalidResponse, "The response of \(place) is not HTTP: \(reason).")
        case .transferCoding(let name):
            (
                .invalidResponse,
                "The body of the response of \(place) can't be decoded: its transfer coding \"\(name)\" is not known."
            )
        case .reset(.enhanceYourCalm), .goneAway(.enhanceYourCalm), .ended(.enhanceYourCalm):
            (.overloaded, "\(place) asks for fewer requests (ENHANCE_YOUR_CALM).")
        case .reset(let code): (.noNetwork, "\(place) reset the stream of the request: \(code).")
        case .goneAway(let code):
            (.noNetwork, "\(place) closes the connection and did not process the request: \(code).")
        case .ended(let code):
            (.noNetwork, "\(place) closed the HTTP/2 connection with an error during the request: \(code).")
        }
    }

    /// Whether the server ended the stream or the connection because it requires HTTP/1.1 (RFC 9113 §7).
    var requiresHTTP1: Bool { [.reset(.http11Required), .ended(.http11Required)].contains(self) }

    /// Whether any byte of the request was sent, if the error shows it.
    var sending: SendState {
        switch self {
        case .unusableURL, .traceWithBody, .headTooLarge, .tooManyWaiting, .notConnectedInTime, .goneAway,
            .reset(.refusedStream), .unsolicited:
            .notSent
        default: .unknown
        }
    }
}

/// An error of an exchange, and whether any byte of its request was sent.
struct ExchangeFailure: Error {
    let cause: any Error
    let sending: SendState

    init(cause: any Error, sending: SendState) {
        self.cause = cause
        self.sending = sending
    }

    /// Creates the failure of a request that was never sent on a connection.
    init(_ cause: any Error) { self.init(cause: cause, sending: .notSent) }
}
