import NIOHTTP2
import Runway

/// What goes wrong on a connection of our own, or before there is one.
enum WireError: Error, Equatable {
    /// The transport was shut down.
    case shutDown
    /// The URL of the request is none that can be asked.
    case unusableURL(String)
    /// A TRACE request had a body (RFC 9110 §9.3.8).
    case traceWithBody
    /// As many requests wait for this origin as may.
    case tooManyWaiting(limit: Int)
    /// No connection was made in time.
    case notConnectedInTime
    /// The deadline of the call passed.
    case deadlineExceeded
    /// Neither side sent anything for too long.
    case silent
    /// The head of the answer did not begin in time.
    case noFirstByte
    /// The other end did not answer a PING.
    case unanswered
    /// The device has the address no more that the connection was made from.
    case networkGone
    /// The connection ended before a byte of the answer.
    case closed
    /// The connection ended within the answer.
    case closedInAnswer
    /// The server sent something over HTTP/1.1 before it was asked.
    case unsolicited
    /// The server switched protocols, which no request of this transport asks for (RFC 9110 §15.2.2).
    case switchedProtocols
    /// What came is not HTTP, or not unambiguous; says why.
    case malformed(String)
    /// The body of an HTTP/1.1 response has a transfer coding that is not undone here; names it.
    case transferCoding(String)
    /// The server ended the stream of the request.
    case reset(HTTP2ErrorCode)
    /// The server is ending the connection, and did not act on the request.
    case goneAway(HTTP2ErrorCode)
    /// The server ended the connection because of an error, and may have acted on the request.
    case ended(HTTP2ErrorCode)
}

extension WireError {
    /// What it means to a caller.
    func meaning(_ place: String) -> (NetworkError.Kind, String) {
        switch self {
        case .shutDown: (.noNetwork, "The transport was shut down.")
        case .unusableURL(let reason): (.invalidConfiguration, "The URL of the request can't be used: \(reason).")
        case .traceWithBody: (.invalidParameters, "A TRACE request can't have a body.")
        case .tooManyWaiting(let limit):
            (.overloaded, "\(limit) requests wait for a connection to \(place) already.")
        case .notConnectedInTime: (.timedOut, "No connection to \(place) could be made in time.")
        case .deadlineExceeded: (.timedOut, "The exchange with \(place) took too long.")
        case .silent: (.timedOut, "\(place) was silent for too long.")
        case .noFirstByte: (.timedOut, "\(place) did not begin to answer in time.")
        case .unanswered: (.noNetwork, "The connection to \(place) was lost: a PING on it was not answered.")
        case .networkGone: (.noNetwork, "The network is gone that the connection to \(place) was made over.")
        case .closed: (.noNetwork, "\(place) closed the connection before it answered in full.")
        case .closedInAnswer: (.invalidResponse, "The connection to \(place) ended in the middle of the answer.")
        case .unsolicited:
            (.invalidResponse, "\(place) sent something before it was asked, which would pass for the answer.")
        case .switchedProtocols:
            (.invalidResponse, "\(place) responded with status 101, which the request had not asked for.")
        case .malformed(let reason): (.invalidResponse, "The answer of \(place) is not HTTP: \(reason).")
        case .transferCoding(let name):
            (
                .invalidResponse,
                "The body of the response of \(place) can't be decoded: its transfer coding \"\(name)\" is not known."
            )
        case .reset(.enhanceYourCalm), .goneAway(.enhanceYourCalm), .ended(.enhanceYourCalm):
            (.overloaded, "\(place) asks for fewer requests (ENHANCE_YOUR_CALM).")
        case .reset(let code): (.noNetwork, "\(place) gave up the request over HTTP/2: \(code).")
        case .goneAway(let code): (.noNetwork, "\(place) closes the connection and did not take the request: \(code).")
        case .ended(let code): (.noNetwork, "\(place) ended the connection over HTTP/2 under the request: \(code).")
        }
    }

    /// Whether any of the request left, as far as the error itself says.
    var sending: SendState {
        switch self {
        case .unusableURL, .traceWithBody, .tooManyWaiting, .notConnectedInTime, .goneAway,
            .reset(.refusedStream), .unsolicited:
            .notSent
        default: .unknown
        }
    }
}

/// An error of an exchange, and whether any of its request reached the wire.
struct ExchangeFailure: Error {
    let cause: any Error
    let sending: SendState

    init(cause: any Error, sending: SendState) {
        self.cause = cause
        self.sending = sending
    }

    /// Of a request that no connection ever had.
    init(_ cause: any Error) { self.init(cause: cause, sending: .notSent) }
}
