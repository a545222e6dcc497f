import NIOCore

extension HTTP1Machine {
    /// The bytes to write at the start of a request.
    enum Start: Equatable {
        /// Write the head, and start the timeout for ``startBody(of:now:)``.
        case writeHead
        /// Write the head and the body.
        case writeHeadAndBody
        /// Write nothing: the connection is closed.
        case refuse
    }

    /// How to treat received bytes.
    enum Receipt: Equatable {
        /// Parse the bytes as part of the response.
        case parse
        /// No request is in flight: close the connection.
        case close
        /// Ignore the bytes: the connection is closed.
        case ignore
    }

    /// The effect of the final head on the request.
    enum HeadAction: Equatable {
        case accept
        /// Accept the head, and stop the body's producer and the timeout for ``startBody(of:now:)``.
        case abandonRequest
        /// The server does not support `Expect`: close the connection, and send the request without it on another
        /// connection (RFC 9110 §10.1.1).
        case resendWithoutExpectation
    }

    struct End: Equatable {
        /// Whether the connection may carry another request after ``HTTP1Machine/readCompleted()``. If not, it must be
        /// closed.
        var isReusable: Bool
        /// Whether the channel must be read now.
        var isReadPending: Bool
    }

    /// The effect of a closed channel.
    enum ChannelEnd {
        /// Do nothing: the connection was already closed.
        case ignore
        /// Close the connection, which carried no request.
        case close
        /// Complete the response: its body lasts until the end of the connection.
        case complete
        /// Report the request as lost: it has no complete response, for the given reason.
        case lose(any Error)
    }

    enum Silence: Equatable {
        case none
        /// Check again at the given time.
        case check(at: NIODeadline)
        /// Close the connection and fail the request with the error.
        case timedOut(WireError)
    }
}
