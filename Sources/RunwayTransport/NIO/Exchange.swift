import HTTPTypes
import NIOCore
import Runway

/// One request on its way through a pool and over a connection, and its answer as it comes.
///
/// Unchecked: everything that changes is touched on the event loop of its pool only, which ``begin(_:)`` and ``cancel(_:)`` go to first.
final class Exchange: @unchecked Sendable {
    /// The answer or why there is none, and what the wire did for it.
    typealias Outcome = (answer: Result<WireResponse, any Error>, wire: WireRecord)

    let request: Request
    let head: WireRequestHead
    let pool: OriginPool
    let isTransparent: Bool

    /// Its number within its pool, once it was given to it.
    var id: RequestID = 0
    /// The number of its stream, where its connection has streams.
    var streamNumber = 0
    /// When it was given to its pool.
    var submitted = NIODeadline.uptimeNanoseconds(0)
    /// What its answer is measured by.
    private(set) var meter = ExchangeMeter()
    /// The connection that carries it.
    private(set) var connection: (any WireConnection)?
    /// The connection that carried it last, which may have let go of it.
    private weak var carrier: (any WireConnection)?
    /// How often it was given to a connection and lost.
    private var moves = 0
    /// Whether any of the request may have reached the wire on a connection that was lost.
    private var sentBefore = SendState.notSent
    /// Whether any byte of an answer came.
    private(set) var hasResponse = false
    private(set) var isReused = false
    private var facts: ConnectionFacts?
    /// Whether the body waits for the server's word.
    private(set) var expectsContinue: Bool
    /// What sends a body that is a stream.
    let upload: BodyUpload?
    /// Told the version of HTTP as soon as it is known.
    private let onVersion: @Sendable (String) -> Void

    private var continuation: CheckedContinuation<Outcome, Never>?
    private var answerHead: HTTPResponse?
    private var lostFields: [HTTPField.Name] = []
    private var isDecoded = false
    private var whole: WholeBody?
    private(set) var stream: ResponseStream?
    /// Whether nobody waits for anything of it any more.
    private(set) var isOver = false
    private var cancellation: (any Error)?

    init(
        _ request: Request, _ head: WireRequestHead, in pool: OriginPool,
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
        isTransparent = pool.configuration.isTransparent
        expectsContinue = head.expectsContinue(pool.configuration.wire)
    }

    /// Hands the exchange over to its pool. The continuation is resumed once, on the pool's loop.
    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        pool.eventLoop.execute {
            self.continuation = continuation
            if let reason = self.cancellation {
                self.finish(failing: ExchangeFailure(cause: reason, sending: .notSent))
            } else {
                self.pool.submit(self)
            }
        }
    }

    /// Ends the exchange, from any thread: nobody wants its answer any more.
    func cancel(_ reason: any Error) {
        pool.eventLoop.execute {
            if self.cancellation == nil { self.cancellation = reason }
            self.reportSilence()
            if self.isOver {
                self.stream?.drop()
                self.carrier?.readersConsumed()
            }
            // Before it began there is nothing to end.
            guard self.continuation != nil || self.stream != nil, !self.isOver else { return }
            let connection = self.connection
            if connection == nil { self.pool.withdraw(self) }
            self.finish(failing: ExchangeFailure(cause: reason, sending: self.sending))
            connection?.cancel(self)
        }
    }
}

extension Exchange {
    /// Begins to work on a body that is a stream. Before the exchange begins.
    func startUpload() {
        guard let upload else { return }
        upload.attach(to: self, in: Task { @concurrent in await upload.run() })
    }

    /// The reader of the answer took so many bytes of it. From any thread.
    func consumed(_ byteCount: Int) {
        pool.eventLoop.execute {
            if let connection = self.connection { return connection.consumed(byteCount, of: self) }
            self.carrier?.readersConsumed()
        }
    }
}

/// What its pool and its connection tell it. On the loop.
extension Exchange {
    /// Whether any of the request reached the wire, as far as can be known.
    private var sending: SendState {
        if hasResponse { return .sent }
        return connection == nil ? .notSent : .unknown
    }

    /// Bytes of an answer came, though they may be no more than the beginning of a head.
    func responseBegan() {
        hasResponse = true
        if meter.firstByte == nil { meter.firstByte = .now() }
    }

    /// Puts the request on a connection.
    func start(on connection: any WireConnection, isReused: Bool) {
        self.connection = connection
        carrier = connection
        self.isReused = isReused
        facts = connection.facts
        meter.start(after: submitted)
        connection.send(self)
    }

    /// The version of HTTP is known: over HTTP/2 as the request leaves, over HTTP/1 when the head of the answer tells.
    func noteVersion(_ version: String) { onVersion(version) }

    /// The whole request is written.
    func requestSent(at instant: NIODeadline) { meter.sent = instant }

    /// Bytes of the request were written; framing included.
    func sent(byteCount: Int) { meter.sentByteCount += byteCount }

    /// Bytes of the answer came; framing included.
    func received(byteCount: Int) { meter.receivedByteCount += byteCount }

    /// An answer of status 1xx came before the final one.
    ///
    /// - Throws: ``WireError/malformed(_:)`` for too many.
    func receive(informational status: HTTPResponse.Status) throws {
        hasResponse = true
        meter.firstByte = nil
        meter.informationalCount += 1
        guard meter.informationalCount <= pool.configuration.wire.maximumInformationalResponses else {
            throw WireError.malformed("there are too many answers of status 1xx")
        }
        if meter.informationalStatuses.count < 16 { meter.informationalStatuses.append(status.code) }
    }

    /// The final head came.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - lostFields: The names of fields that are not in it, since their values are not text. The default is none.
    ///   - isEmpty: Whether no body can follow.
    ///   - contentLength: The length that the head names.
    /// - Throws: ``BodyTooLarge``, or ``ContentDecoder/Failure`` where there is no memory to decode with.
    func receive(
        _ head: HTTPResponse, leavingOut lostFields: [HTTPField.Name] = [], isEmpty: Bool, contentLength: Int?
    ) throws {
        responseBegan()
        reportAnswer()
        request.noteHead(head.status)
        let codings = isTransparent ? [] : ContentCoding.undoable(in: head.headerFields)
        isDecoded = !codings.isEmpty
        let hasBody = !isEmpty && contentLength != 0
        let visible = head.undoing(codings.count)
        answerHead = visible
        self.lostFields = lostFields
        switch request.delivery {
        case .whole(let maximumByteCount):
            whole = try WholeBody(
                hasBody && isDecoded ? try makeDecoder(codings) : nil, contentLength: hasBody ? contentLength : nil,
                upTo: maximumByteCount)
        case .streamed:
            let stream = ResponseStream(
                step: min(128 << 10, pool.configuration.wire.streamWindowByteCount / 4), unread: connection?.unread)
            self.stream = stream
            let answer = WireResponse(
                head: visible, lostFields: lostFields, body: .stream(stream), codings: hasBody ? codings : [],
                isDecoded: isDecoded)
            continuation?.resume(returning: (.success(answer), wireRecord))
            continuation = nil
        }
    }

    /// Tells how the address does. A connection to one that others have left far behind takes no further exchange.
    private func reportAnswer() {
        guard let report = facts?.report, let sent = meter.sent, let firstByte = meter.firstByte, firstByte >= sent
        else {
            return
        }
        report.answered(after: Duration(firstByte - sent), endpoint: request.head.endpointNumber)
        if report.isOutrun, !pool.isSpare, let connection { pool.drain(connection.id) }
    }

    /// Tells how the address does that was outrun by another: its answer would have begun later than now.
    private func reportSilence() {
        guard !isOver, request.hedged?.isOutrun == true, meter.firstByte == nil, let sent = meter.sent,
            let report = facts?.report
        else { return }
        report.answered(after: Duration(NIODeadline.now() - sent), endpoint: request.head.endpointNumber)
        if report.isOutrun, !pool.isSpare, let connection { pool.drain(connection.id) }
    }

    private func makeDecoder(_ codings: [ContentCoding]) throws -> ContentDecoder {
        try ContentDecoder(codings, limits: pool.configuration.wire.decodingLimits)
    }

    /// A part of the body came.
    ///
    /// - Throws: ``BodyTooLarge`` or ``ContentDecoder/Failure``.
    func receive(_ part: ByteBuffer) throws {
        if part.readableBytes == 0 { return }
        if let stream { return stream.append(part) }
        try whole?.append(part)
    }

    /// The answer is complete. The connection has let go of the exchange.
    func receiveEnd() {
        do {
            try whole?.finish()
            finish()
        } catch {
            finish(failing: ExchangeFailure(cause: error, sending: .sent))
        }
    }

    /// The connection could not answer the exchange, and has let go of it: it is sent on another one, or ends.
    ///
    /// - Parameters:
    ///   - isUnprocessed: Whether the server did certainly not act on the request.
    func lost(_ error: any Error, isUnprocessed: Bool = false) {
        guard !isOver else { return }
        if !hasResponse, TLSFailure(error)?.refusesClient == true {
            // It would on any connection. With TLS 1.3 it says so before its side of the handshake is done, and reads nothing of a request.
            let isInHandshake = facts?.tlsVersion == "TLSv1.3" && !isReused
            return finish(failing: ExchangeFailure(cause: error, sending: isInHandshake ? .notSent : sending))
        }
        let failure = ExchangeFailure(cause: error, sending: isUnprocessed ? .notSent : sending)
        connection = nil
        sentBefore = sentBefore.and(failure.sending)
        let loss = LostRequest(
            isUnprocessed: isUnprocessed, wasReused: isReused, hasResponse: hasResponse,
            isIdempotent: request.head.method.isIdempotent, isReplayable: upload?.canRestart ?? true, moves: moves,
            begun: meter.begun ?? submitted)
        if loss.mayMove {
            moves += 1
            upload?.stop()
        }
        pool.lost(self, loss, failing: failure)
    }

    /// The server does not know `Expect`: the request is sent once more without (RFC 9110 §10.1.1), on another connection.
    func expectationFailed() {
        expectsContinue = false
        hasResponse = false
        lost(WireError.closed, isUnprocessed: true)
    }

    /// The stream of the request's body threw, or was not as long as it was said to be.
    func uploadFailed(_ error: any Error) {
        guard !isOver else { return }
        let connection = connection
        failed(error)
        connection?.cancel(self)
    }

    /// The exchange failed on its connection, which has let go of it.
    func failed(_ error: any Error) { finish(failing: ExchangeFailure(cause: error, sending: sending)) }

    /// Ends the exchange with an error, once.
    func finish(failing failure: ExchangeFailure) {
        guard !isOver else { return }
        // What ends it on a later connection, or while it waits for one, says nothing about those before.
        let failure = ExchangeFailure(cause: failure.cause, sending: sentBefore.and(failure.sending))
        end()
        stream?.finish(.failure(failure), wireRecord)
        continuation?.resume(returning: (.failure(failure), wireRecord))
        continuation = nil
    }

    private func finish() {
        guard !isOver else { return }
        end()
        stream?.finish(.success(()), wireRecord)
        guard let continuation, let answerHead, let whole else { return }
        self.continuation = nil
        self.whole = nil
        let answer = WireResponse(
            head: answerHead, lostFields: lostFields, body: .whole(whole.bytes), codings: [], isDecoded: isDecoded)
        continuation.resume(returning: (.success(answer), wireRecord))
    }

    private func end() {
        isOver = true
        connection = nil
        meter.end = .now()
        upload?.end()
    }

    private var wireRecord: WireRecord {
        var record = meter.record(isReused: isReused, facts)
        record.moveCount = moves
        return record
    }
}

extension HTTPRequest {
    /// A number of its method and its path without the query and without what names one thing among many, such as `42`: answers to
    /// requests of one number are much the same work.
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
