import HTTPTypes
import NIOCore

/// Decides the actions of an HTTP/1.1 connection. It is a state machine without I/O and clock.
///
/// The connection carries one request at a time. It accepts the next request when the response is complete and no byte
/// follows the response in the same read. Bytes that arrive without a request in flight close the connection: a later
/// request could receive them as its response (RFC 9112 §9.2, §11.2).
///
/// ``HTTP1Connection`` passes every event to the machine and performs the returned actions. When the connection no
/// longer carries a request, later events of the request, its producer or its reader are ignored.
struct HTTP1Machine {
    /// How the body of a request is written.
    enum Body {
        /// The body is absent or small, and is written in one write.
        case whole
        /// The body is in memory, and is written in several pieces.
        case pieces
        /// A producer supplies the body in parts. Each part is written when the previous one was written.
        case parts
    }

    /// The progress of sending the request.
    fileprivate enum Sending {
        /// The head was sent. The body waits for status 100 or for a timeout (RFC 9110 §10.1.1).
        case awaitingContinue(Body)
        /// Bytes of the body are being written.
        case writing
        /// The producer has not supplied the next part of the body.
        case awaitingPart
        /// The whole request was sent.
        case sent(at: NIODeadline)
        /// The final response arrived first, so the rest of the body is not sent.
        case abandoned
    }

    /// The progress of receiving the response.
    fileprivate enum Receiving {
        /// No byte has arrived yet, or no byte since a 1xx response.
        case awaited
        /// Part of a head has arrived.
        case begun
        /// The final head has arrived.
        case head
    }

    fileprivate enum Reading {
        case open
        /// Reading is paused, since too many bytes of the response are unread.
        case paused(isReadPending: Bool)
    }

    fileprivate struct InFlightRequest {
        let request: RequestID
        var sending: Sending
        var receiving = Receiving.awaited
        var reading = Reading.open
        /// The number of bytes of a streamed response that its reader has not consumed.
        var unreadByteCount = 0
        /// The time when bytes were last written or read.
        var lastProgress: NIODeadline
    }

    private enum State {
        case idle
        case inFlight(InFlightRequest)
        /// The response is complete. In the same turn of the event loop, the channel may have read more bytes that it
        /// has not passed on yet.
        case ended
        case closed(WireError)
    }

    /// The number of unread bytes of a streamed response above which reading pauses. At or below this number, reading
    /// resumes.
    static let highWaterByteCount = 256 << 10
    static let lowWaterByteCount = 128 << 10

    private var state = State.idle
    private(set) var failure: (any Error)?

    /// The reason why the connection was closed; `nil` if it is open.
    var closeReason: WireError? { if case .closed(let reason) = state { reason } else { nil } }
}

extension HTTP1Machine {
    /// Starts a request. The connection must not carry another request.
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

    /// Handles status 100 or its timeout. Returns how to write the body, or `nil` if it is already being written.
    mutating func startBody(of request: RequestID, now: NIODeadline) -> Body? {
        guard var inFlight = inFlight(request), case .awaitingContinue(let body) = inFlight.sending else { return nil }
        inFlight.sending = Sending(body, now: now)
        inFlight.lastProgress = now
        state = .inFlight(inFlight)
        return body
    }

    /// Records that one piece of a body in memory was written. Returns whether the whole request was sent.
    mutating func pieceWritten(of request: RequestID, isLast: Bool, now: NIODeadline) -> Bool {
        guard var inFlight = inFlight(request) else { return false }
        inFlight.lastProgress = now
        switch inFlight.sending {
        case .writing: if isLast { inFlight.sending = .sent(at: now) }
        // If the response arrived first, all pieces of the body were already passed to the channel.
        case .abandoned: break
        case .awaitingContinue, .awaitingPart, .sent:
            preconditionFailure("a piece was written of a body that is not being written")
        }
        state = .inFlight(inFlight)
        return isLast
    }

    /// Records that the producer supplied a part. Returns whether to write it.
    mutating func partSupplied(for request: RequestID) -> Bool {
        guard var inFlight = inFlight(request), inFlight.wantsPart else { return false }
        inFlight.sending = .writing
        state = .inFlight(inFlight)
        return true
    }

    /// Records that the last supplied part was written.
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

    /// Records that the producer has no more parts. Returns whether to write the end of the body.
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
    /// The state at the start of writing a body.
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
    /// Whether a part that the producer supplies must be sent.
    fileprivate var wantsPart: Bool {
        switch sending {
        case .awaitingPart: return true
        case .abandoned: return false
        case .awaitingContinue, .writing, .sent:
            preconditionFailure("a part was supplied before the connection wanted one")
        }
    }
}

extension HTTP1Machine {
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

    /// Records that the head of a 1xx response was read.
    mutating func informationalRead() {
        update { $0.receiving = .awaited }
    }

    /// Records that the head of the final response was read.
    mutating func headRead(_ status: HTTPResponse.Status) -> HeadAction {
        let action = update { inFlight -> HeadAction in
            if case .head = inFlight.receiving { preconditionFailure("a response has two final heads") }
            inFlight.receiving = .head
            switch inFlight.sending {
            case .awaitingContinue where status == .expectationFailed: return .resendWithoutExpectation
            case .awaitingContinue: break
            // With this status, the server refuses the request and does not need the rest of its body.
            case .writing where status.code >= 300, .awaitingPart where status.code >= 300: break
            case .writing, .awaitingPart, .sent, .abandoned: return .accept
            }
            inFlight.sending = .abandoned
            return .abandonRequest
        }
        if action == .resendWithoutExpectation { state = .closed(.closed) }
        return action
    }

    /// Records that bytes of a streamed response were read and wait for its reader.
    mutating func bodyRead(byteCount: Int) {
        update { inFlight in
            inFlight.unreadByteCount += byteCount
            if case .open = inFlight.reading, inFlight.unreadByteCount > Self.highWaterByteCount {
                inFlight.reading = .paused(isReadPending: false)
            }
        }
    }

    /// Records that the reader of a streamed response consumed bytes. Returns whether the channel must be read now.
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

    /// Returns whether the channel may read now. If not, ``bytesConsumed(_:of:now:)`` or
    /// ``responseEnded(isPersistent:)`` resumes reading.
    mutating func readRequested() -> Bool {
        guard case .inFlight(var inFlight) = state, case .paused = inFlight.reading else { return true }
        inFlight.reading = .paused(isReadPending: true)
        state = .inFlight(inFlight)
        return false
    }

    /// Records that the response is complete. The connection then carries no request, and accepts the next one after
    /// ``readCompleted()``.
    ///
    /// - Parameter isPersistent: Whether request and response permit another request on the connection (RFC 9112 §9.3),
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

    /// Records that the channel has passed on all bytes that it has read. Returns whether the connection accepts the
    /// next request now.
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

/// Ends the connection after a cancellation, an error, a close of the channel, or silence.
extension HTTP1Machine {
    /// Cancels a request. Returns `true` if the connection carries the request and must therefore be closed.
    mutating func cancel(_ request: RequestID) -> Bool {
        guard inFlight(request) != nil else { return false }
        state = .closed(.closed)
        return true
    }

    /// Closes the connection. Returns `false` if it is already closed.
    mutating func close() -> Bool {
        guard closeReason == nil else { return false }
        state = .closed(.closed)
        return true
    }

    /// Records an error of the channel, after which the channel will close. Bytes that were read before are still used.
    mutating func errorCaught(_ error: any Error) {
        if failure == nil { failure = error }
    }

    /// Handles the end of the channel.
    ///
    /// - Parameter isComplete: Whether the end completes the response that was being read, or the reason why it does
    ///   not.
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

    /// Checks whether the server was silent for too long. While the app's reader or producer is slow, the server does
    /// not count as silent.
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
    /// Whether the connection waits for the app: the producer of the request body or the reader of the response body.
    fileprivate var waitsForApp: Bool {
        switch (sending, reading) {
        case (.awaitingPart, _), (_, .paused): true
        default: false
        }
    }

    /// The time when the whole request was sent; `nil` if it is not sent yet, or the response has begun.
    fileprivate var awaitedSince: NIODeadline? {
        if case (.sent(let instant), .awaited) = (sending, receiving) { instant } else { nil }
    }
}
