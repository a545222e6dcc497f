import NIOCore

/// Actions that ``HTTP1Machine`` decides on.
extension HTTP1Machine {
    /// The bytes to write at the start of a request.
    enum Start: Equatable {
        /// Write the head, and start the time-out for ``startBody(of:now:)``.
        case writeHead
        /// Write the head and the body.
        case writeHeadAndBody
        /// Write nothing: the connection is closed.
        case refuse
    }

    /// The treatment of received bytes.
    enum Receipt: Equatable {
        /// Parse the bytes: they belong to the response.
        case parse
        /// No request is in flight: close the connection.
        case close
        /// The connection is closed.
        case ignore
    }

    /// The consequence of the final head for the request.
    enum HeadAction: Equatable {
        /// Accept the head.
        case accept
        /// Accept the head, and stop the body's producer and the time-out for ``startBody(of:now:)``.
        case abandonRequest
        /// The server does not support `Expect`: close the connection, and send the request without it on another one
        /// (RFC 9110 §10.1.1).
        case resendWithoutExpectation
    }

    /// The state of the connection after a response.
    struct End: Equatable {
        /// Whether the connection may carry another request after ``HTTP1Machine/readCompleted()``. If not, it is to be
        /// closed.
        var isReusable: Bool
        /// Whether the channel is to be read now.
        var isReadPending: Bool
    }

    /// The result of the channel's end.
    enum ChannelEnd {
        /// The connection was closed before.
        case ignore
        /// The connection carried no request.
        case close
        /// The response ended with the connection.
        case complete
        /// The request has no complete response, for this reason.
        case lose(any Error)
    }

    /// The result of a check for silence.
    enum Silence: Equatable {
        /// The connection carries no request.
        case none
        /// Check again at this time.
        case check(at: NIODeadline)
        /// Close the connection, and fail the request with this error.
        case timedOut(WireError)
    }
}
