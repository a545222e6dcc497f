import Foundation
import HTTPTypes
import ServiceContextModule
import Synchronization

/// Records one call while it is in flight: its parameters, the decisions of the stages, the attempts, and the outcome.
///
/// Any thread may write to it. The ``FlightRecord`` is created only when it is read, and then redacted.
struct FlightRecorder: ~Copyable, Sendable {
    /// One request that was passed to the transport. Its URL becomes text only when the record is read.
    struct Attempt {
        var request: HTTPRequest
        var record: FlightRecord.Attempt

        /// Returns the attempt without the secrets that authenticate the call, and without the values that a redaction
        /// removes.
        func redacted(_ secrets: FlightSecrets, _ redaction: Redaction) -> FlightRecord.Attempt {
            var redacted = record
            redacted.url = secrets.masked(request.urlText)
            if !secrets.isEmpty {
                redacted.headerFields = secrets.masked(record.headerFields)
                redacted.responseHeaderFields = record.responseHeaderFields.map(secrets.masked)
            }
            redaction.redact(&redacted)
            return redacted
        }
    }

    // The type is not private, because the compiler produces an invalid module for a private type stored in a
    // noncopyable one.
    struct State {
        var endpoint: (any Endpoint)?
        /// The content of the call's request; `nil` until it is read from the endpoint.
        var content: CallContent?
        /// The names of the objects that a call changes, if it may be stored.
        var subjects: [String]?
        /// The decisions, without the one that the response was delivered before `load` returned.
        var decisions: [FlightRecord.Decision] = []
        /// The number of decisions before the response was delivered immediately; 0 if it was not.
        var immediateCount = 0
        var attempts: [Attempt] = []
        var source: ResponseSource?
        var ending: (outcome: FlightOutcome, instant: Duration)?
        /// Whether the record is held back because the request may continue for other calls after this call has ended.
        var isHeld = false
        var secrets = FlightSecrets()
        /// Whether the bodies contain the messages of other calls, as in a merged request.
        var holdsMessages = false

        mutating func append(_ decision: FlightRecord.Decision) {
            // Calls with a fresh stored response have one decision, and most other calls have several.
            if decisions.isEmpty { return decisions = [decision] }
            if decisions.count == 1 { decisions.reserveCapacity(4) }
            decisions.append(decision)
        }

        /// All decisions in order. An immediate delivery follows from the decision before it.
        var allDecisions: [FlightRecord.Decision] {
            if immediateCount == 0 { return decisions }
            var all = decisions
            all.insert(.landedImmediately(at: all[immediateCount - 1].elapsed), at: immediateCount)
            return all
        }
    }

    /// The time at which a record must be reported.
    enum Report { case now, later }

    private let context: FlightContext
    private let start: Duration
    let traceContext = ServiceContext.current
    /// Guards the record so far.
    private let state = Mutex(State())

    init(_ context: FlightContext, start: Duration) {
        self.context = context
        self.start = start
    }

    private var clock: LayerClock { context.clock }
    private var redaction: Redaction { context.redaction }
}

// Records the parameters and decisions of the call.
extension FlightRecorder {
    /// Stores the endpoint as the caller passed it. Its parameters are read only when the record is read.
    func setEndpoint(_ endpoint: any Endpoint) { state.withLock { $0.endpoint = endpoint } }

    /// The endpoint as the caller passed it; `nil` if none was supplied.
    var endpoint: (any Endpoint)? { state.withLock { $0.endpoint } }

    /// The content of the call's request; `nil` until it is read from the endpoint. Its parameters do not include the
    /// common parameters of the service.
    var content: CallContent? { state.withLock { $0.content } }

    /// - Parameter subjects: The names of the objects that the call changes (``Endpoint/offlineSubjects``), if the call
    ///   may be stored; otherwise `nil`.
    func setContent(_ content: CallContent, changing subjects: [String]?) {
        state.withLock { ($0.content, $0.subjects) = (content, subjects) }
    }

    /// The endpoint of a call that may be stored, and the names of the objects that the call changes
    /// (``Endpoint/offlineSubjects``); `nil` for other calls. The endpoint contains the parameters as sent.
    var queued: (endpoint: any Endpoint, subjects: [String])? {
        state.withLock { state in
            guard let content = state.content, let subjects = state.subjects else { return nil }
            return (content.endpoint, subjects)
        }
    }

    func setSource(_ source: ResponseSource) { state.withLock { $0.source = source } }

    /// Appends a decision with the time at which it was made.
    func note<D: StageDecision>(_ decision: D, in step: FlightStep, at now: Duration) {
        state.withLock { $0.append(FlightRecord.Decision(elapsed: now - start, step: step, decision: decision)) }
    }

    /// Records that the response was delivered before `load` returned, at the time of the last decision.
    func noteImmediateDelivery() {
        state.withLock { state in
            if state.decisions.isEmpty { return state.append(.landedImmediately(at: clock.now - start)) }
            state.immediateCount = state.decisions.count
        }
    }

    /// Returns whether the record contains a decision for which `predicate` returns `true`.
    func hasNoted(_ predicate: (any StageDecision) -> Bool) -> Bool {
        state.withLock { $0.decisions.contains { predicate($0.decision) } }
    }

    /// Adds the secrets that authenticate the call. ``Redaction`` determines whether the record shows them.
    func addSecrets(_ fields: Set<HTTPField.Name>, _ texts: [String], isBodySecret: Bool) {
        state.withLock { $0.secrets.add(fields, texts, isInBody: isBodySecret) }
    }

    /// The fields and texts that authenticate the call, in addition to fields whose names indicate a secret.
    var authentication: CallAuthentication {
        let (secrets, holdsMessages) = state.withLock { ($0.secrets, $0.holdsMessages) }
        return CallAuthentication(fields: secrets.fields, isInBody: holdsMessages || secrets.isInBody)
    }

    /// Records that the bodies of this call contain the messages of other calls. Called before anything is sent.
    func setHoldsMessages() { state.withLock { $0.holdsMessages = true } }
}

// Records the attempts of the call.
extension FlightRecorder {
    /// The number of requests that were passed to the transport.
    var attemptCount: Int { state.withLock { $0.attempts.count } }

    /// Returns whether an attempt may have taken effect: it ended with anything except a refusal of the request (RFC
    /// 9110 §15.5).
    ///
    /// - Parameter includingLast: Whether the last attempt counts, too. Pass `true` for a call that ends because it
    ///   lacks a login or token. If its last response has a 2xx status, the service read the response as a refusal.
    func hasUnclearAttempt(includingLast: Bool) -> Bool {
        state.withLock { state in
            let isEarlierUnclear = state.attempts.dropLast().contains { $0.record.status?.kind != .clientError }
            guard includingLast, let last = state.attempts.last else { return isEarlierUnclear }
            let kind = last.record.status?.kind
            return isEarlierUnclear || (kind != .clientError && kind != .successful)
        }
    }

    /// Returns the HTTP version of an attempt, or `nil` if it is unknown. Attempts are counted from 0.
    func httpVersion(ofAttempt index: Int) -> String? {
        state.withLock { $0.attempts.indices.contains(index) ? $0.attempts[index].record.httpVersion : nil }
    }

    /// Records that a request is passed to the transport. Returns the index of the attempt.
    func beginAttempt(_ request: Request, at now: Duration) -> Int {
        let elapsed = now - start
        let head = request.head.withoutDefaultPort
        let body: [UInt8]? =
            if recordsBodies, case .bytes(let bytes) = request.body { request.uncompressedBody ?? bytes } else { nil }
        return state.withLock { state in
            state.attempts.append(
                Attempt(
                    request: head,
                    record: FlightRecord.Attempt(
                        method: head.method, url: "", headerFields: head.headerFields,
                        requestByteCount: request.body.byteCount, requestBody: body, start: elapsed)))
            return state.attempts.count - 1
        }
    }

    /// Whether the record contains bodies. The caller must not hold the lock. Bodies with the messages of other calls
    /// are not recorded, because secrets can't be found in them.
    private var recordsBodies: Bool {
        redaction.recordsBodies && (redaction.headerFields.isEmpty || !state.withLock(\.holdsMessages))
    }

    /// Changes the record of an attempt, or of the last attempt if `index` is `nil`.
    func changeAttempt(_ index: Int?, _ change: (inout FlightRecord.Attempt) -> Void) {
        state.withLock { state in
            let index = index ?? state.attempts.count - 1
            guard state.attempts.indices.contains(index) else { return }
            change(&state.attempts[index].record)
        }
    }

    /// Ends the record of an attempt with its response. If the body is streamed, the end of the stream ends the record
    /// instead. Does nothing if the attempt was cancelled.
    func endAttempt(_ index: Int, with response: Response) {
        let (end, recordsBodies) = (clock.now - start, recordsBodies)
        changeAttempt(index) { attempt in
            guard attempt.end == nil else { return }
            attempt.status = response.head.status
            attempt.responseHeaderFields = response.head.headerFields
            guard case .whole(let rawData) = response.body else { return }
            attempt.end = end
            attempt.responseByteCount = rawData.bytes.count
            if recordsBodies { attempt.responseBody = rawData.bytes }
        }
    }

    /// Ends the record of an attempt that has no response, unless it has ended.
    func endAttempt(_ index: Int, failing reason: String) {
        let end = clock.now - start
        changeAttempt(index) { attempt in
            guard attempt.end == nil else { return }
            attempt.end = end
            attempt.failure = reason
        }
    }

    /// Ends the record of an attempt whose body was streamed. If `index` is `nil`, it is the last attempt. Does nothing
    /// after the end of the call.
    func endStream(_ index: Int?, byteCount: Int, failing error: NetworkError?) {
        let end = clock.now - start
        state.withLock { state in
            let index = index ?? state.attempts.count - 1
            guard state.attempts.indices.contains(index), state.ending == nil else { return }
            state.attempts[index].record.end = end
            state.attempts[index].record.responseByteCount = byteCount
            state.attempts[index].record.failure = error?.detail
        }
    }

    /// Replaces the secrets of the call, and other texts that the layer redacts, in a URL. The argument may also be
    /// only a query that begins with its question mark.
    func redacted(url: String) -> String {
        let secrets = state.withLock { redaction.hidden($0.secrets) }
        return redaction.redacted(url: secrets.masked(url))
    }

    /// Returns header fields without the secrets of the call and the values that the layer redacts.
    func redacted(_ fields: HTTPFields) -> HTTPFields {
        let secrets = state.withLock { redaction.hidden($0.secrets) }
        return redaction.redacted(secrets.masked(fields))
    }

    /// Adds to an error the request that it concerns, and redacts its text.
    func locate(_ error: NetworkError) -> NetworkError {
        var error = error
        let (attempt, secrets) = state.withLock { state in
            (state.attempts.last.map { ($0.request, state.attempts.count) }, redaction.hidden(state.secrets))
        }
        error.detail = redaction.redacted(detail: secrets.masked(start: error.detail)).oneLine
        guard let (last, count) = attempt else { return error }
        if error.request == nil {
            error.request = "\(last.method) \(redaction.redacted(url: secrets.masked(last.urlText)))"
        }
        if error.host == nil { error.host = Origin(last).host }
        if error.attempt == 0 { error.attempt = count }
        return error
    }
}

// Ends, holds back and releases the call's record.
extension FlightRecorder {
    var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// Ends the call. Returns the time, now or later, at which the record must be reported, or `nil` if the call had
    /// already ended.
    func end(_ outcome: FlightOutcome) -> Report? {
        let instant = clock.now
        return state.withLock { state in
            guard state.ending == nil else { return nil }
            state.ending = (outcome, instant)
            return state.isHeld ? .later : .now
        }
    }

    /// Holds the record back until ``release()``, because the request continues for other calls even if this call ends.
    func hold() {
        // If the call has ended, its record was already reported and can't be held back.
        state.withLock { $0.isHeld = $0.ending == nil }
    }

    /// Allows the record to be reported. Returns whether it must be reported now, because the call has ended.
    func release() -> Bool {
        state.withLock { state in
            defer { state.isHeld = false }
            return state.isHeld && state.ending != nil
        }
    }

    var isReported: Bool { state.withLock { $0.ending != nil && !$0.isHeld } }

    /// Returns the redacted record so far.
    ///
    /// - Parameters:
    ///   - reading: The current time on both clocks.
    ///   - outcome: The outcome to use if the call has not ended.
    func record(
        of flight: Flight, _ redaction: Redaction, at reading: LayerClock.Reading, as outcome: FlightOutcome
    ) -> FlightRecord {
        let state = state.withLock { $0 }
        let secrets = redaction.hidden(state.secrets)
        let configuration = flight.configuration
        let common = (state.content?.common ?? [:]).merging(defaults: configuration.settings.commonParameters)
        let passed = (try? state.endpoint?.parameters) ?? [:]
        let sent = state.content?.parameters.merging(defaults: common)
        let parameters = redaction.redacted(passed)
        let end = state.ending?.instant ?? reading.now
        return FlightRecord(
            id: flight.id, network: flight.context.network, service: configuration.service.name,
            endpoint: flight.endpoint.name,
            date: reading.date.addingTimeInterval(-(reading.now - start).seconds), duration: end - start,
            parameters: parameters,
            // Most calls send exactly the passed parameters. These need not be redacted twice.
            sentParameters: sent.map { $0 == passed ? parameters : redaction.redacted($0) },
            decisions: state.allDecisions,
            attempts: state.attempts.map { $0.redacted(secrets, redaction) },
            source: state.source, outcome: redaction.redacted(state.ending?.outcome ?? outcome),
            traceContext: traceContext)
    }
}

extension FlightRecord.Decision {
    fileprivate static func landedImmediately(at elapsed: Duration) -> FlightRecord.Decision {
        FlightRecord.Decision(elapsed: elapsed, step: CallDecision.step, decision: CallDecision.landedImmediately)
    }
}
