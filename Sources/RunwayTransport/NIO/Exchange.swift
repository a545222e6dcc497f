import HTTPTypes
import NIOCore
import Runway

/// One request in flight, which its pool sends over a connection, and the response as it arrives.
///
/// Unchecked: every variable is read and written only on the pool's event loop. ``begin(_:)`` and ``cancel(_:)`` switch
/// to the event loop.
final class Exchange: @unchecked Sendable {
    typealias Outcome = (response: Result<WireResponse, any Error>, wire: WireRecord)

    let request: Request
    let head: WireRequestHead
    let pool: OriginPool
    /// Whether the response stays open, as an event stream does.
    let isLongLived: Bool

    /// The exchange's number in its pool; 0 before it is submitted.
    var id: RequestID = 0
    /// The exchange's HTTP/2 stream number; 0 in HTTP/1.1.
    var streamNumber = 0
    var submitted = NIODeadline.uptimeNanoseconds(0)
    private(set) var meter = ExchangeMeter()
    /// The connection that carries the exchange; `nil` before and after.
    private(set) var connection: (any WireConnection)?
    /// The connection that carries the exchange, or carried it last.
    private weak var lastConnection: (any WireConnection)?
    /// The number of connections that were lost while they carried the exchange.
    private var moves = 0
    /// Whether parts of the request may have been sent on connections that were lost.
    private var sentBefore = SendState.notSent
    private(set) var hasResponse = false
    private(set) var isReused = false
    private var facts: ConnectionFacts?
    /// Whether the body is sent only after status 100.
    private(set) var expectsContinue: Bool
    /// Sends a streamed body; `nil` if the body is not a stream.
    let upload: BodyUpload?
    /// Called with the HTTP version as soon as it is known.
    private let onVersion: @Sendable (String) -> Void

    private var state = State.created(cancellation: nil)

    /// The state of an exchange.
    ///
    ///     created ─begin─▶ awaiting ─head─▶ collecting ─end─▶ over
    ///                         │    └─head─▶ streaming ──end─▶ over
    ///                         └───────────── error ─────────▶ over
    private enum State {
        /// The exchange has not begun. If it was already cancelled, `cancellation` is the reason.
        case created(cancellation: (any Error)?)
        /// The caller waits for the response.
        case awaiting(CheckedContinuation<Outcome, Never>)
        /// The head has arrived, and the caller waits for the whole body.
        case collecting(CheckedContinuation<Outcome, Never>, WireResponse, WholeBody)
        /// The caller has received the head and reads the body.
        case streaming(ResponseStream)
        /// The exchange ended with a response or an error. The caller may still be reading a body.
        case over(ResponseStream?)
    }

    init(
        _ request: Request, _ head: WireRequestHead, in pool: OriginPool, isLongLived: Bool,
        onVersion: @escaping @Sendable (String) -> Void
    ) {
        self.onVersion = onVersion
        self.request = request
        self.head = head
        self.pool = pool
        upload =
            if case .stream(let stream, let byteCount, let isReplayable) = request.body {
                BodyUpload(stream, byteCount: byteCount, isReplayable: isReplayable, on: pool.eventLoop)
            } else { nil }
        self.isLongLived = isLongLived
        expectsContinue = head.expectsContinue(pool.configuration.wire)
    }

    /// Submits the exchange to its pool. The continuation is resumed once, on the pool's event loop.
    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        pool.eventLoop.execute {
            guard case .created(let cancellation) = self.state else { preconditionFailure("an exchange begins once") }
            self.state = .awaiting(continuation)
            if let cancellation {
                self.finish(failing: ExchangeFailure(cause: cancellation, sending: .notSent))
            } else {
                self.pool.submit(self)
            }
        }
    }

    /// Cancels the exchange. Unread bytes of its response are discarded, even after the end of the exchange. Callable
    /// from any thread.
    func cancel(_ reason: any Error) {
        pool.eventLoop.execute {
            self.reportSilence()
            switch self.state {
            case .created(let earlier): self.state = .created(cancellation: earlier ?? reason)
            case .awaiting, .collecting, .streaming:
                let connection = self.connection
                if connection == nil { self.pool.withdraw(self) }
                self.finish(failing: ExchangeFailure(cause: reason, sending: self.sending))
                self.stream?.drop()
                connection?.cancel(self)
            case .over(let stream):
                stream?.drop()
                self.lastConnection?.readersConsumed()
            }
        }
    }
}

extension Exchange {
    /// Starts the task that reads a streamed body. Called before ``begin(_:)``.
    func startUpload() {
        guard let upload else { return }
        upload.attach(to: self, in: Task { @concurrent in await upload.run() })
    }

    /// Records that the reader of the response consumed `byteCount` bytes. Callable from any thread.
    func consumed(_ byteCount: Int) {
        pool.eventLoop.execute {
            if let connection = self.connection { return connection.consumed(byteCount, of: self) }
            self.lastConnection?.readersConsumed()
        }
    }
}

/// Events that the pool and the connection report, on the event loop.
extension Exchange {
    /// Whether the body is passed on undecoded as it arrives.
    var isTransparent: Bool { pool.configuration.isTransparent }

    var isOver: Bool { if case .over = state { true } else { false } }

    /// The body that the caller reads; `nil` before the head, and for a response that is returned as a whole.
    var stream: ResponseStream? {
        switch state {
        case .streaming(let stream): stream
        case .over(let stream): stream
        case .created, .awaiting, .collecting: nil
        }
    }

    /// Whether parts of the request may have been sent on the current connection.
    private var sending: SendState {
        if hasResponse { return .sent }
        return connection == nil ? .notSent : .unknown
    }

    /// Records that the first bytes of a response arrived. They may be only part of its head.
    func responseBegan() {
        hasResponse = true
        if meter.firstByte == nil { meter.firstByte = .now() }
    }

    /// Sends the request on a connection.
    func start(on connection: any WireConnection, isReused: Bool) {
        self.connection = connection
        lastConnection = connection
        self.isReused = isReused
        facts = connection.facts
        meter.start(after: submitted)
        connection.send(self)
    }

    /// Reports the HTTP version. In HTTP/2, it is known when the request is sent; in HTTP/1, from the head of the
    /// response.
    func noteVersion(_ version: String) { onVersion(version) }

    func requestSent(at instant: NIODeadline) { meter.sent = instant }

    /// Counts written bytes of the request, including framing.
    func sent(byteCount: Int) { meter.sentByteCount += byteCount }

    /// Counts received bytes of the response, including framing.
    func received(byteCount: Int) { meter.receivedByteCount += byteCount }

    /// Receives the head of a 1xx response.
    ///
    /// - Throws: ``WireError/malformed(_:)`` if there are too many.
    func receive(informational head: HTTPResponse) throws {
        hasResponse = true
        meter.firstByte = nil
        meter.informationalCount += 1
        // Servers report the progress of an upload with 1xx responses, so many are permitted if the caller wants them.
        let limit = request.onInterim == nil ? pool.configuration.wire.maximumInformationalResponses : 1 << 20
        guard meter.informationalCount <= limit else {
            throw WireError.malformed("there are too many responses of status 1xx")
        }
        if meter.informationalStatuses.count < 16 { meter.informationalStatuses.append(head.status.code) }
        request.onInterim?(head, request.head)
    }

    /// Receives the final head.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - omittedFields: The names of fields that were omitted because their values are not text. The default is
    ///     empty.
    ///   - isEmpty: Whether the response has no body.
    ///   - contentLength: The declared length; `nil` if the head declares none.
    /// - Throws: ``BodyTooLarge``, or ``ContentDecoder/Failure`` if there is no memory for decoding.
    func receive(
        _ head: HTTPResponse, leavingOut omittedFields: [HTTPField.Name] = [], isEmpty: Bool, contentLength: Int?
    ) throws {
        responseBegan()
        reportResponse()
        request.noteHead(head.status)
        guard case .awaiting(let continuation) = state else { return }
        let codings = isTransparent ? [] : ContentCoding.undoable(in: head.headerFields)
        let hasBody = !isEmpty && contentLength != 0
        func response(_ body: WireResponse.Body, codings left: [ContentCoding]) -> WireResponse {
            WireResponse(
                head: head.undoing(codings.count), omittedFields: omittedFields, body: body, codings: left,
                isDecoded: !codings.isEmpty)
        }
        switch request.delivery {
        case .whole(let maximumByteCount):
            let body = try WholeBody(
                hasBody && !codings.isEmpty ? try makeDecoder(codings) : nil,
                contentLength: hasBody ? contentLength : nil, upTo: maximumByteCount)
            state = .collecting(continuation, response(.whole([]), codings: []), body)
        case .streamed:
            let stream = ResponseStream(
                step: min(128 << 10, pool.configuration.wire.streamWindowByteCount / 4), unread: connection?.unread)
            state = .streaming(stream)
            let response = response(.stream(stream), codings: hasBody ? codings : [])
            continuation.resume(returning: (.success(response), wireRecord))
        }
    }

    /// Records how fast the server's address responded. If another address of the host is much faster, the connection
    /// takes no further exchanges.
    private func reportResponse() {
        guard let report = facts?.report, let sent = meter.sent, let firstByte = meter.firstByte, firstByte >= sent
        else {
            return
        }
        report.responded(after: Duration(firstByte - sent), endpoint: request.head.endpointNumber)
        if report.hasLost, !pool.isSpare, let connection { pool.drain(connection.id) }
    }

    /// Records that the address did not respond in the time since the request was sent. Called for the losing attempt
    /// of a hedged request.
    private func reportSilence() {
        guard !isOver, request.hedgedAttempt?.hasLost == true, meter.firstByte == nil, let sent = meter.sent,
            let report = facts?.report
        else { return }
        report.responded(after: Duration(NIODeadline.now() - sent), endpoint: request.head.endpointNumber)
        if report.hasLost, !pool.isSpare, let connection { pool.drain(connection.id) }
    }

    private func makeDecoder(_ codings: [ContentCoding]) throws -> ContentDecoder {
        try ContentDecoder(codings, limits: pool.configuration.wire.decodingLimits)
    }

    /// Receives a part of the body.
    ///
    /// - Throws: ``BodyTooLarge`` or ``ContentDecoder/Failure``.
    func receive(_ part: ByteBuffer) throws {
        if part.readableBytes == 0 { return }
        switch state {
        case .streaming(let stream): stream.append(part)
        case .collecting(let continuation, let response, var body):
            // Moves the body out of `state` during the change, so that its bytes are not copied.
            state = .awaiting(continuation)
            defer { state = .collecting(continuation, response, body) }
            try body.append(part)
        case .created, .awaiting: preconditionFailure("a body comes after its head")
        case .over: break
        }
    }

    /// Receives the end of the response. The connection no longer carries the exchange.
    func receiveEnd() {
        do {
            if case .collecting(_, _, let body) = state { try body.finish() }
            end(nil)
        } catch {
            finish(failing: ExchangeFailure(cause: error, sending: .sent))
        }
    }

    /// Handles the loss of the connection before the response was complete: the request moves to another connection, or
    /// fails.
    ///
    /// - Parameters:
    ///   - isUnprocessed: Whether the server certainly did not process the request. The default is `false`.
    ///   - isUnsent: Whether no byte of the request was written because the connection was already lost. The default is
    ///     `false`.
    func lost(_ error: any Error, isUnprocessed: Bool = false, isUnsent: Bool = false) {
        guard !isOver else { return }
        if !hasResponse, TLSFailure(error)?.refusesClient == true {
            // The server would refuse any connection, for example for lack of a client certificate. With TLS 1.3, it
            // refuses before it has completed its handshake, and so before it reads a request.
            let isInHandshake = facts?.wire.tlsVersion == "TLSv1.3" && !isReused
            return finish(failing: ExchangeFailure(cause: error, sending: isInHandshake ? .notSent : sending))
        }
        let failure = ExchangeFailure(cause: error, sending: isUnprocessed ? .notSent : sending)
        connection = nil
        sentBefore = sentBefore.and(failure.sending)
        let loss = LostRequest(
            isUnprocessed: isUnprocessed, wasReused: isReused, hasResponse: hasResponse,
            isIdempotent: request.head.method.isIdempotent,
            requiresHTTP1: (error as? WireError)?.requiresHTTP1 == true, isReplayable: upload?.canRestart ?? true,
            moves: moves,
            begun: meter.begun ?? submitted, isUnsent: isUnsent)
        if loss.mayMove {
            moves += 1
            upload?.stop()
        }
        pool.lost(self, loss, failing: failure)
    }

    /// Handles a server that does not support `Expect`: the request is sent without it on another connection (RFC 9110
    /// §10.1.1).
    func expectationFailed() {
        expectsContinue = false
        hasResponse = false
        lost(WireError.closed, isUnprocessed: true)
    }

    /// Handles a request body whose stream threw an error or did not have the declared length.
    func uploadFailed(_ error: any Error) {
        guard !isOver else { return }
        let connection = connection
        failed(error)
        connection?.cancel(self)
    }

    /// Handles a failure on the connection. The connection no longer carries the exchange.
    func failed(_ error: any Error) { finish(failing: ExchangeFailure(cause: error, sending: sending)) }

    /// Ends the exchange with an error, unless it has already ended.
    func finish(failing failure: ExchangeFailure) {
        // Earlier connections may have sent the request, even if this one did not.
        end(ExchangeFailure(cause: failure.cause, sending: sentBefore.and(failure.sending)))
    }

    /// Ends the exchange with an error or with the response that arrived, unless it has already ended.
    private func end(_ failure: ExchangeFailure?) {
        let ended = state
        if case .over = ended { return }
        state = .over(stream)
        connection = nil
        meter.end = .now()
        upload?.end()
        switch ended {
        case .streaming(let stream): stream.finish(failure.map { .failure($0) } ?? .success(()), wireRecord)
        case .collecting(let continuation, var response, let body):
            response.body = .whole(body.bytes)
            response.surplusByteCount = body.surplusByteCount
            continuation.resume(returning: (failure.map { .failure($0) } ?? .success(response), wireRecord))
        case .awaiting(let continuation):
            guard let failure else { preconditionFailure("a whole response ends after its head") }
            continuation.resume(returning: (.failure(failure), wireRecord))
        case .created, .over: break
        }
    }

    private var wireRecord: WireRecord {
        var record = meter.record(isReused: isReused, facts)
        record.moveCount = moves
        return record
    }
}

extension HTTPRequest {
    /// A hash of the method and the path, without its query and without segments that contain digits, such as `42`.
    /// Requests with equal hashes are assumed to take the server about the same time.
    fileprivate var endpointNumber: Int {
        var hasher = Hasher()
        hasher.combine(method)
        for part in (path ?? "").utf8.prefix(while: { $0 != UInt8(ascii: "?") }).split(separator: UInt8(ascii: "/"))
        where !part.contains(where: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            hasher.combine(Array(part))
        }
        return hasher.finalize()
    }
}
