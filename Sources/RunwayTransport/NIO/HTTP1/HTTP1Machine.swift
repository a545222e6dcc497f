import HTTPTypes
import NIOCore

/// Decides the actions of an HTTP/1.1 connection. It carries one request at a time, and accepts the next one when the
/// response to the first is complete and no byte follows it in the same read. A state machine without I/O or a clock.
///
/// Bytes that come while no request is in flight close the connection: a request that is sent after them could receive
/// them as its response (RFC 9112 §9.2, §11.2).
///
/// ``HTTP1Connection`` passes every event to the machine and performs the returned actions. Later events of a request,
/// its producer or its reader are ignored after the connection has stopped carrying the request.
struct HTTP1Machine {
    /// The way in which the body of a request is written.
    enum Body {
        /// The body is written in one write: it is absent or small.
        case whole
        /// The body is in memory, and is written in several pieces.
        case pieces
        /// The body is written in parts that a producer supplies, each when the one before it is written.
        case parts
    }

    /// The part of the request that is sent.
    fileprivate enum Sending {
        /// The head is sent. The body waits for status 100, or for a time-out (RFC 9110 §10.1.1).
        case awaitingContinue(Body)
        /// Bytes of the body are on their way into the socket.
        case writing
        /// The producer of the body has not supplied the next part.
        case awaitingPart
        /// All of it is sent.
        case sent(at: NIODeadline)
        /// The final response arrived first: the rest of the body is not sent.
        case abandoned
    }

    /// The part of the response that has arrived.
    fileprivate enum Receiving {
        /// No byte, or no byte since a response of status 1xx.
        case awaited
        /// A part of a head.
        case begun
        /// The final head.
        case head
    }

    /// Whether bytes are read from the channel.
    fileprivate enum Reading {
        case open
        /// Too many bytes of the response wait for their reader.
        case paused(isReadPending: Bool)
    }

    /// The request that the connection carries.
    fileprivate struct InFlightRequest {
        let request: RequestID
        var sending: Sending
        var receiving = Receiving.awaited
        var reading = Reading.open
        /// The number of bytes of a streamed response that its reader has not consumed.
        var unreadByteCount = 0
        /// The time at which bytes were last written or read.
        var lastProgress: NIODeadline
    }

    private enum State {
        case idle
        case inFlight(InFlightRequest)
        /// The response is complete. The channel may have read more in the same turn of the event loop, and not passed
        /// it on yet.
        case ended
        case closed(WireError)
    }

    /// With more unread bytes of a streamed response than this, reading pauses; with this many or fewer it resumes.
    static let highWaterByteCount = 256 << 10
    static let lowWaterByteCount = 128 << 10

    private var state = State.idle
    /// The first error that the channel reported.
    private(set) var failure: (any Error)?

    /// The reason why the connection is closed; `nil` if it is open.
    var closeReason: WireError? { if case .closed(let reason) = state { reason } else { nil } }
}

/// Decides how the request is sent.
extension HTTP1Machine {
    /// Starts a request. The connection carries none.
    mutating func start(_ request: RequestID, _ body: Body, expectsContinue: Bool, now: NIODeadline) -> Start {
        switch state {
        case .closed: return .refuse
        case .inFlight(let inFlight):
            preconditionFailure("request \(request) on a connection that carries request \(inFlight.request)")
        case .ended: preconditionFailure("request \(request) on a connection that is still being read")
        case .idle:
            let sending = expectsContinue ? .awaitingContinue(body) : Sending(body, now: now)
            state = .inFlight(InFlightRequest(request: request, sending: sending, lastProgress: now))
            return expectsContinue ? .writeHead : .writeHeadAndBody
        }
    }

    /// Notes that the server sent status 100, or did not send it in time. Returns how the body is to be written, if it
    /// is not already.
    mutating func startBody(of request: RequestID, now: NIODeadline) -> Body? {
        guard var inFlight = inFlight(request), case .awaitingContinue(let body) = inFlight.sending else { return nil }
        inFlight.sending = Sending(body, now: now)
        inFlight.lastProgress = now
        state = .inFlight(inFlight)
        return body
    }

    /// Notes that one of several pieces of a body in memory was written. Returns whether the request is sent.
    mutating func pieceWritten(of request: RequestID, isLast: Bool, now: NIODeadline) -> Bool {
        guard var inFlight = inFlight(request) else { return false }
        inFlight.lastProgress = now
        switch inFlight.sending {
        case .writing: if isLast { inFlight.sending = .sent(at: now) }
        // All pieces are in the channel if the response arrives first.
        case .abandoned: break
        case .awaitingContinue, .awaitingPart, .sent:
            preconditionFailure("a piece was written of a body that is not being written")
        }
        state = .inFlight(inFlight)
        return isLast
    }

    /// Notes that the producer supplied a part. Returns whether it is to be written.
    mutating func partSupplied(for request: RequestID) -> Bool {
        guard var inFlight = inFlight(request), inFlight.wantsPart else { return false }
        inFlight.sending = .writing
        state = .inFlight(inFlight)
        return true
    }

    /// Notes that the part that was supplied last was written.
    mutating func partWritten(of request: RequestID, now: NIODeadline) {
        guard var inFlight = inFlight(request) else { return }
        inFlight.lastProgress = now
        switch inFlight.sending {
        case .writing: inFlight.sending = .awaitingPart
        case .abandoned: break
        case .awaitingContinue, .awaitingPart, .sent: preconditionFailure("a part was written that was not supplied")
        }
        state = .inFlight(inFlight)
    }

    /// Notes that the producer has no further part. Returns whether the end of the body is to be written.
    mutating func partsEnded(for request: RequestID, now: NIODeadline) -> Bool {
        guard var inFlight = inFlight(request), inFlight.wantsPart else { return false }
        inFlight.sending = .sent(at: now)
        inFlight.lastProgress = now
        state = .inFlight(inFlight)
        return true
    }

    private func inFlight(_ request: RequestID) -> InFlightRequest? {
        guard case .inFlight(let inFlight) = state, inFlight.request == request else { return nil }
        return inFlight
    }
}

extension HTTP1Machine.Sending {
    /// The state of a body whose writing starts now.
    fileprivate init(_ body: HTTP1Machine.Body, now: NIODeadline) {
        self =
            switch body {
            case .whole: .sent(at: now)
            case .pieces: .writing
            case .parts: .awaitingPart
            }
    }
}

extension HTTP1Machine.InFlightRequest {
    /// Whether a part that the producer supplies is sent.
    fileprivate var wantsPart: Bool {
        switch sending {
        case .awaitingPart: return true
        case .abandoned: return false
        case .awaitingContinue, .writing, .sent:
            preconditionFailure("a part was supplied before the connection wanted one")
        }
    }
}

/// Decides how the response is read.
extension HTTP1Machine {
    /// Decides the treatment of received bytes.
    mutating func bytesReceived(now: NIODeadline) -> Receipt {
        switch state {
        case .closed: return .ignore
        case .idle, .ended:
            state = .closed(.unsolicited)
            return .close
        case .inFlight(var inFlight):
            inFlight.lastProgress = now
            if case .awaited = inFlight.receiving { inFlight.receiving = .begun }
            state = .inFlight(inFlight)
            return .parse
        }
    }

    /// Notes that the head of a response of status 1xx was read.
    mutating func informationalRead() {
        update { $0.receiving = .awaited }
    }

    /// Notes that the head of the final response was read.
    mutating func headRead(_ status: HTTPResponse.Status) -> HeadAction {
        let action = update { inFlight -> HeadAction in
            if case .head = inFlight.receiving { preconditionFailure("a response has two final heads") }
            inFlight.receiving = .head
            switch inFlight.sending {
            case .awaitingContinue where status == .expectationFailed: return .resendWithoutExpectation
            case .awaitingContinue: break
            // The server that refuses the request needs no more of it.
            case .writing where status.code >= 300, .awaitingPart where status.code >= 300: break
            case .writing, .awaitingPart, .sent, .abandoned: return .accept
            }
            inFlight.sending = .abandoned
            return .abandonRequest
        }
        if action == .resendWithoutExpectation { state = .closed(.closed) }
        return action
    }

    /// Notes that bytes of the body of a streamed response were read, and wait for their reader.
    mutating func bodyRead(byteCount: Int) {
        update { inFlight in
            inFlight.unreadByteCount += byteCount
            if case .open = inFlight.reading, inFlight.unreadByteCount > Self.highWaterByteCount {
                inFlight.reading = .paused(isReadPending: false)
            }
        }
    }

    /// Notes that the reader of a streamed response consumed bytes. Returns whether the channel is to be read now.
    mutating func bytesConsumed(_ byteCount: Int, of request: RequestID, now: NIODeadline) -> Bool {
        guard var inFlight = inFlight(request) else { return false }
        precondition(byteCount <= inFlight.unreadByteCount, "more bytes were consumed than were read")
        defer { state = .inFlight(inFlight) }
        inFlight.unreadByteCount -= byteCount
        guard case .paused(let isReadPending) = inFlight.reading, inFlight.unreadByteCount <= Self.lowWaterByteCount
        else {
            return false
        }
        inFlight.reading = .open
        inFlight.lastProgress = now
        return isReadPending
    }

    /// Returns whether the channel may read when it is asked to; if not, ``bytesConsumed(_:of:now:)`` or
    /// ``responseEnded(isPersistent:)`` resumes it.
    mutating func readRequested() -> Bool {
        guard case .inFlight(var inFlight) = state, case .paused = inFlight.reading else { return true }
        inFlight.reading = .paused(isReadPending: true)
        state = .inFlight(inFlight)
        return false
    }

    /// Notes that the response is complete. The connection carries no request, and takes the next one after
    /// ``readCompleted()``.
    ///
    /// - Parameter isPersistent: Whether request and response allow another request on the connection (RFC 9112 §9.3),
    ///   and no bytes follow the response.
    mutating func responseEnded(isPersistent: Bool) -> End {
        let (isSent, isReadPending) = update { inFlight in
            guard case .head = inFlight.receiving else { preconditionFailure("a response ended without a final head") }
            let isSent = if case .sent = inFlight.sending { true } else { false }
            let isReadPending = if case .paused(true) = inFlight.reading { true } else { false }
            return (isSent, isReadPending)
        }
        let isReusable = isPersistent && isSent && failure == nil
        state = isReusable ? .ended : .closed(.closed)
        return End(isReusable: isReusable, isReadPending: isReadPending)
    }

    /// Notes that the channel has passed on all that it read in this turn. Returns whether the connection can carry the
    /// next request from now on.
    mutating func readCompleted() -> Bool {
        guard case .ended = state, failure == nil else { return false }
        state = .idle
        return true
    }

    private mutating func update<Value>(_ change: (inout InFlightRequest) -> Value) -> Value {
        guard case .inFlight(var inFlight) = state else {
            preconditionFailure("a response was read that no request is for")
        }
        defer { state = .inFlight(inFlight) }
        return change(&inFlight)
    }
}

/// Decides how the connection ends: by a cancellation, an error, a close of the channel, or silence.
extension HTTP1Machine {
    /// Cancels a request. Returns whether the connection is to be closed, since it carries the request.
    mutating func cancel(_ request: RequestID) -> Bool {
        guard inFlight(request) != nil else { return false }
        state = .closed(.closed)
        return true
    }

    /// Closes the connection. Returns `false` if it is closed already.
    mutating func close() -> Bool {
        guard closeReason == nil else { return false }
        state = .closed(.closed)
        return true
    }

    /// Notes that the channel reported an error, after which it closes. Bytes that were read before are not lost.
    mutating func errorCaught(_ error: any Error) {
        if failure == nil { failure = error }
    }

    /// Notes that the channel has closed.
    ///
    /// - Parameter isComplete: Whether this completes the response that was being read, or why it does not.
    mutating func channelClosed(_ isComplete: Result<Bool, WireError>) -> ChannelEnd {
        defer { _ = close() }
        switch state {
        case .closed: return .ignore
        case .idle, .ended: return .close
        case .inFlight: break
        }
        if let failure { return .lose(failure) }
        switch isComplete {
        case .success(true): return .complete
        case .success(false): return .lose(WireError.closed)
        case .failure(let error): return .lose(error)
        }
    }

    /// Checks whether the server was silent for too long. While a reader or a producer is slow, the server is not
    /// silent.
    mutating func checkSilence(_ limits: SilenceLimits, now: NIODeadline) -> Silence {
        guard case .inFlight(var inFlight) = state else { return .none }
        if inFlight.waitsForApp { inFlight.lastProgress = now }
        let (due, error) = limits.due(after: inFlight.lastProgress, awaitedSince: inFlight.awaitedSince)
        if now >= due {
            state = .closed(.closed)
            return .timedOut(error)
        }
        state = .inFlight(inFlight)
        return .check(at: due)
    }
}

extension HTTP1Machine.InFlightRequest {
    /// Whether the next byte depends on the producer of the request's body or on the reader of the response's.
    fileprivate var waitsForApp: Bool {
        switch (sending, reading) {
        case (.awaitingPart, _), (_, .paused): true
        default: false
        }
    }

    /// The time at which the request was sent in full, if the response has not begun.
    fileprivate var awaitedSince: NIODeadline? {
        if case (.sent(let instant), .awaited) = (sending, receiving) { instant } else { nil }
    }
}
