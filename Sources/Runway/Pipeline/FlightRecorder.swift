import Foundation
import HTTPTypes
import ServiceContextModule
import Synchronization

/// The growing record of one call: its parameters, the decisions of the stages, the attempts on the wire, and its
/// outcome.
///
/// Any thread may write to it. The ``FlightRecord`` is made when somebody reads it, with its secrets redacted.
struct FlightRecorder: ~Copyable, Sendable {
    /// One request that went to the transport; its URL becomes text when the record is made.
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

    // Not private: the compiler would make an invalid module of a private type in the storage of a noncopyable one.
    struct State {
        var endpoint: (any Endpoint)?
        var sentParameters: Parameters?
        /// The endpoint of a call that may be stored, as sent, and the things that the call changes.
        var queued: (endpoint: any Endpoint, subjects: [String])?
        /// The common parameters that the service made for the call.
        var commonParameters: Parameters?
        var decisions: [FlightRecord.Decision] = []
        var attempts: [Attempt] = []
        var source: ResponseSource?
        var ending: (outcome: FlightOutcome, instant: Duration)?
        /// Whether the record is not reported yet, although the call may have ended: its request is in flight for
        /// others.
        var isHeld = false
        var secrets = FlightSecrets()
        /// Whether the bodies hold the messages of other calls.
        var holdsMessages = false
    }

    /// Whether a record is to be reported.
    enum Report { case now, later }

    private let context: FlightContext
    private let start: Duration
    /// The trace in which the call was made.
    let traceContext = ServiceContext.current
    /// Guards the record so far.
    private let state = Mutex(State())

    /// Starts the record of a call that starts at an instant of the clock.
    init(_ context: FlightContext, start: Duration) {
        self.context = context
        self.start = start
    }

    private var clock: LayerClock { context.clock }
    private var redaction: Redaction { context.redaction }
}

// Parameters and decisions.
extension FlightRecorder {
    /// Stores the endpoint as the caller passed it; its parameters are read when somebody reads the record.
    func setEndpoint(_ endpoint: any Endpoint) { state.withLock { $0.endpoint = endpoint } }

    /// The endpoint as the caller passed it; `nil` if none was supplied.
    var endpoint: (any Endpoint)? { state.withLock { $0.endpoint } }

    /// Stores the parameters that are sent in addition to the common ones of the service.
    func setSentParameters(_ parameters: Parameters) { state.withLock { $0.sentParameters = parameters } }

    /// The parameters that are sent in addition to the common ones of the service.
    var sentParameters: Parameters { state.withLock { $0.sentParameters } ?? [:] }

    /// The endpoint of a call that may be stored, as sent, and the things that the call changes
    /// (``Endpoint/offlineSubjects``); `nil` for any other call.
    var queued: (endpoint: any Endpoint, subjects: [String])? { state.withLock { $0.queued } }

    func setQueued(_ endpoint: any Endpoint) {
        let subjects = endpoint.offlineSubjects
        state.withLock { $0.queued = (endpoint, subjects) }
    }

    /// The parameters that the service made for the call; `nil` if they were not needed yet.
    var commonParameters: Parameters? { state.withLock { $0.commonParameters } }

    func setCommonParameters(_ parameters: Parameters) { state.withLock { $0.commonParameters = parameters } }

    func setSource(_ source: ResponseSource) { state.withLock { $0.source = source } }

    /// Appends a decision that was made at an instant of the clock or, with `nil`, at that of the last decision.
    func note<D: StageDecision>(_ decision: D, in step: FlightStep, at now: Duration?) {
        state.withLock {
            let elapsed = now.map { $0 - start } ?? $0.decisions.last?.elapsed ?? clock.now - start
            // A call that a stored response serves notes two: room for them is made once.
            if $0.decisions.isEmpty { $0.decisions.reserveCapacity(2) }
            $0.decisions.append(FlightRecord.Decision(elapsed: elapsed, step: step, decision: decision))
        }
    }

    /// Whether the record has a decision that `predicate` accepts.
    func hasNoted(_ predicate: (any StageDecision) -> Bool) -> Bool {
        state.withLock { $0.decisions.contains { predicate($0.decision) } }
    }

    /// Adds the secrets that authenticate the call. ``Redaction`` decides whether the record shows them, and nothing
    /// else.
    func addSecrets(_ fields: Set<HTTPField.Name>, _ texts: [String], isBodySecret: Bool) {
        state.withLock { $0.secrets.add(fields, texts, isInBody: isBodySecret) }
    }

    /// The fields and texts that authenticate the call, in addition to fields with telling names.
    var authentication: CallAuthentication {
        let (secrets, holdsMessages) = state.withLock { ($0.secrets, $0.holdsMessages) }
        return CallAuthentication(fields: secrets.fields, isInBody: holdsMessages || secrets.isInBody)
    }

    /// Marks the bodies of this flight as holding the messages of other calls. Called before anything is sent.
    func setHoldsMessages() { state.withLock { $0.holdsMessages = true } }
}

// The attempts on the wire.
extension FlightRecorder {
    /// The number of requests that went to the transport so far.
    var attemptCount: Int { state.withLock { $0.attempts.count } }

    /// Whether an attempt may have taken effect: it ended in anything but a refusal of the request (RFC 9110 §15.5).
    ///
    /// - Parameter includingLast: Whether the last attempt counts, too: `true` for a call that ends because it has no
    ///   login or token. A response of 2xx to the last attempt is then one that the service read as a refusal.
    func hasUnclearAttempt(includingLast: Bool) -> Bool {
        state.withLock { state in
            let isEarlierUnclear = state.attempts.dropLast().contains { $0.record.status?.kind != .clientError }
            guard includingLast, let last = state.attempts.last else { return isEarlierUnclear }
            let kind = last.record.status?.kind
            return isEarlierUnclear || (kind != .clientError && kind != .successful)
        }
    }

    /// Returns the version of HTTP of an attempt, counted from 0; `nil` if it is not known.
    func httpVersion(ofAttempt index: Int) -> String? {
        state.withLock { $0.attempts.indices.contains(index) ? $0.attempts[index].record.httpVersion : nil }
    }

    /// Starts the record of a request that goes to the transport at an instant of the clock, and returns its index.
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

    /// Whether the record holds bodies. The caller must not hold the lock. A body with the messages of other calls has
    /// header fields and bodies as text, in which no secret could be found.
    private var recordsBodies: Bool {
        redaction.recordsBodies && (redaction.headerFields.isEmpty || !state.withLock(\.holdsMessages))
    }

    /// Changes the record of an attempt; of the last one where `index` is `nil`.
    func changeAttempt(_ index: Int?, _ change: (inout FlightRecord.Attempt) -> Void) {
        state.withLock { state in
            let index = index ?? state.attempts.count - 1
            guard state.attempts.indices.contains(index) else { return }
            change(&state.attempts[index].record)
        }
    }

    /// Ends the record of an attempt with its response; a body that is streamed ends it later. An attempt that was
    /// cancelled has ended.
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

    /// Ends the record of an attempt, or of the last, whose body was read as a stream. After the end of the call it
    /// changes nothing.
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

    /// Returns a URL, or a query with its question mark, without the secrets of the call and the texts that the layer
    /// redacts.
    func redacted(url: String) -> String {
        let secrets = state.withLock { redaction.hidden($0.secrets) }
        return redaction.redacted(url: secrets.masked(url))
    }

    /// Returns header fields without the secrets of the call and the values that the layer redacts.
    func redacted(_ fields: HTTPFields) -> HTTPFields {
        let secrets = state.withLock { redaction.hidden($0.secrets) }
        return redaction.redacted(secrets.masked(fields))
    }

    /// Adds to an error which request it concerns, and redacts its text.
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

// Ends the record with the call.
extension FlightRecorder {
    /// Whether the call has ended.
    var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// Ends the call. Returns when the record is to be reported, or `nil` if the call had ended already: only the first
    /// ending counts.
    func end(_ outcome: FlightOutcome) -> Report? {
        let instant = clock.now
        return state.withLock { state in
            guard state.ending == nil else { return nil }
            state.ending = (outcome, instant)
            return state.isHeld ? .later : .now
        }
    }

    /// Holds the record back although the call may end, since its request continues for others.
    func hold() {
        // A call that has ended has reported its record already.
        state.withLock { $0.isHeld = $0.ending == nil }
    }

    /// Holds the record back no longer. Returns whether it is to be reported now, since the call has ended meanwhile.
    func release() -> Bool {
        state.withLock { state in
            defer { state.isHeld = false }
            return state.isHeld && state.ending != nil
        }
    }

    /// Whether the record has been reported.
    var isReported: Bool { state.withLock { $0.ending != nil && !$0.isHeld } }

    /// Returns the record so far, redacted.
    ///
    /// - Parameters:
    ///   - reading: The clocks, now.
    ///   - outcome: The outcome of a call that has not ended yet.
    func record(
        of flight: Flight, _ redaction: Redaction, at reading: LayerClock.Reading, as outcome: FlightOutcome
    ) -> FlightRecord {
        let state = state.withLock { $0 }
        let secrets = redaction.hidden(state.secrets)
        let configuration = flight.configuration
        let common = (state.commonParameters ?? [:]).merging(defaults: configuration.settings.commonParameters)
        let passed = (try? state.endpoint?.parameters) ?? [:]
        let sent = state.sentParameters?.merging(defaults: common)
        let parameters = redaction.redacted(passed)
        let end = state.ending?.instant ?? reading.now
        return FlightRecord(
            id: flight.id, network: flight.context.network, service: configuration.service.name,
            endpoint: flight.endpoint.name,
            date: reading.date.addingTimeInterval(-(reading.now - start).seconds), duration: end - start,
            parameters: parameters,
            // Most calls send the parameters that were passed, whose names need not be judged twice.
            sentParameters: sent.map { $0 == passed ? parameters : redaction.redacted($0) },
            decisions: state.decisions,
            attempts: state.attempts.map { $0.redacted(secrets, redaction) },
            source: state.source, outcome: redaction.redacted(state.ending?.outcome ?? outcome),
            traceContext: traceContext)
    }
}
