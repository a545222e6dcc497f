import Foundation
import HTTPTypes
import ServiceContextModule
import Synchronization

/// One call on its way through the pipeline: who it is, how long it may take, and the record that stages write.
public final class Flight: Sendable {
    /// The number of the call in its layer.
    public let id: FlightID
    /// The endpoint that the call is for.
    public let endpoint: any Endpoint.Type
    /// What this call asks for that differs from what its endpoint says.
    public let options: CallOptions
    /// The clocks of the layer.
    public let clock: LayerClock
    /// The instant on the layer's clock at which the call was asked for.
    public let startTime: Duration
    /// The instant on the layer's clock by which the call has to be over.
    ///
    /// While other calls share the request of this one, it is the latest of theirs and its own that still wait.
    public var deadline: Duration {
        waitingFlights?.map(\.ownDeadline).max() ?? ownDeadline
    }

    /// The instant by which this call has to be over, whoever shares its request.
    var ownDeadline: Duration {
        if isEndedBySignOut { return startTime }
        let own = startTime + .nanoseconds(lastByteTime.load(ordering: .relaxed)) + lifetime
        return wholeDeadline.map { min(own, $0) } ?? own
    }

    /// The longest that the call may take; of a transfer, the longest that it may go without a byte.
    let lifetime: Duration
    /// How many nanoseconds after the take-off the last byte of a transfer went or came; 0 for all other calls.
    let lastByteTime = Atomic<Int64>(0)

    /// The service that the call is for.
    public var service: any APIService.Type { configuration.service }
    /// The environment that the service was in when the call was asked for.
    public var environment: ServiceEnvironment { configuration.settings.environment }
    /// Who was signed in to the service then; `nil` where nobody was.
    public var account: String? { configuration.settings.account }
    /// The cache policy of the call.
    public var cachePolicy: CachePolicy { options.cache ?? endpoint.cache }
    /// The retry policy of the call.
    public var retryPolicy: RetryPolicy { options.retry ?? endpoint.retry }
    /// The priority of the call. One that renews an access token is urgent, since others that have a place in the air wait for it.
    ///
    /// While other calls share the request of this one, it is the highest of theirs that still wait and its own.
    public var priority: CallPriority {
        let own = renewing.isEmpty ? options.priority ?? endpoint.priority : .urgent
        return waitingFlights?.reduce(own) { $1 === self ? $0 : max($0, $1.priority) } ?? own
    }

    /// How the service merges requests, when the call was asked for.
    var mergePolicy: MergePolicy? { configuration.settings.merging }
    /// Whether the flight is nobody's call, and carries the requests of several.
    let isEnvelope: Bool
    /// The services whose access tokens are being renewed by the code that makes this call; empty for all other calls.
    ///
    /// What waits for one of their tokens waits for this call: a stage must not let it wait for them in turn.
    let renewing: [ObjectIdentifier]
    /// What the flights of the layer have in common.
    let context: FlightContext
    /// Keeps the layer and its transports alive while the call, or a body that is read as a stream, is in flight.
    let keeper: any AnyObject & Sendable
    /// When the call got its concurrency slot, in nanoseconds after its start; ``noSlot`` while it has none.
    let slotTime = Atomic(Flight.noSlot)
    /// Guards whose call this is.
    private let owner = Mutex(WeakManager())
    /// What reading remembers of the call.
    let reading: FlightReading
    /// The service's settings when the call was asked for.
    let configuration: ServiceConfiguration
    let traceContext = ServiceContext.current

    /// One request that went to the transport, as it is kept while flying: its URL is text only on the record.
    private struct Attempt {
        var request: HTTPRequest
        var record: FlightRecord.Attempt

        /// The attempt as a record has it, without what the call proves itself with.
        func written(without secrets: FlightSecrets) -> FlightRecord.Attempt {
            var written = record
            written.url = secrets.masked(request.urlText)
            written.headerFields = secrets.masked(record.headerFields)
            written.responseHeaderFields = record.responseHeaderFields.map(secrets.masked)
            return written
        }
    }

    private struct State {
        var given: (any Endpoint)?
        var sent: Parameters?
        var decisions: [FlightRecord.Decision] = []
        var attempts: [Attempt] = []
        var source: ResponseSource?
        var ending: (outcome: FlightOutcome, instant: Duration)?
        /// Whether the record is not told yet although the call may be over, since its request flies on for others.
        var isHeld = false
        var secrets = FlightSecrets()
    }

    /// Guards the growing record.
    private let state = Mutex(State())

    init(
        id: FlightID, endpoint: any Endpoint.Type, configuration: ServiceConfiguration, options: CallOptions,
        lifetime: Duration, context: FlightContext, keeper: any AnyObject & Sendable, renewing: [ObjectIdentifier] = [],
        isEnvelope: Bool = false,
        start: UInt64? = nil
    ) {
        self.id = id
        self.endpoint = endpoint
        self.configuration = configuration
        self.isEnvelope = isEnvelope
        self.options = options
        self.context = context
        self.keeper = keeper
        self.renewing = renewing
        reading = FlightReading(start: start ?? context.cache.lastSequenceNumber)
        clock = context.clock
        startTime = clock.now
        self.lifetime = lifetime
    }

    /// Writes a decision into the record of the call.
    package func note<D: StageDecision>(_ decision: D, in step: FlightStep = D.step) {
        note(decision, in: step, at: clock.now)
    }

    /// Writes a decision that was made at an instant on the layer's clock.
    func note<D: StageDecision>(_ decision: D, in step: FlightStep = D.step, at now: Duration) {
        let elapsed = now - startTime
        state.withLock {
            // Most calls note a few: room for them is made once.
            if $0.decisions.isEmpty { $0.decisions.reserveCapacity(4) }
            $0.decisions.append(FlightRecord.Decision(elapsed: elapsed, step: step, decision: decision))
        }
    }

    /// Runs `operation`, and calls `handler` if the deadline of the call passes before it has ended. For transports.
    ///
    /// - Parameters:
    ///   - operation: What may take until the deadline.
    ///   - handler: Called at most once, on any thread, and at once where the deadline has passed already. It must return soon, and
    ///     make `operation` end.
    /// - Throws: What `operation` throws, and nothing else: the deadline alone throws nothing.
    public func withDeadlineHandler<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value, onDeadline handler: @escaping @Sendable () -> Void
    ) async throws(Failure) -> Value {
        // Those who share a flight each see to their own deadline, and cancel it when the last of them has passed.
        if isCarrying { return try await operation() }
        let token = context.deadlines.schedule(at: ownDeadline, of: self, expire: handler)
        defer { context.deadlines.remove(token) }
        return try await operation()
    }

    /// Starts the time anew in which the call has to be over: bytes of a transfer went or came.
    func extendDeadline() {
        lastByteTime.store((clock.now - startTime).nanoseconds, ordering: .relaxed)
    }

    /// Writes down which version of HTTP an attempt uses. For transports that know, as soon as they do: ``MergePolicy`` goes by it.
    ///
    /// - Parameters:
    ///   - version: The version, such as `HTTP/2`.
    ///   - request: The request as the transport was given it. The default, `nil`, is that of the last attempt; a flight that is hedged
    ///     has two at a time.
    public func noteHTTPVersion(_ version: String, of request: Request? = nil) {
        changeAttempt(request?.record) { $0.httpVersion = version }
    }

    /// Writes down what the wire did for an attempt. For transports that know; the last word counts.
    ///
    /// - Parameters:
    ///   - wire: What the wire did.
    ///   - request: The request as the transport was given it. The default, `nil`, is that of the last attempt; a flight that is hedged
    ///     has two at a time.
    public func noteWire(_ wire: WireRecord, of request: Request? = nil) {
        changeAttempt(request?.record) { $0.wire = wire }
    }

    /// Changes the record of an attempt, or of the last.
    private func changeAttempt(_ index: Int?, _ change: (inout FlightRecord.Attempt) -> Void) {
        state.withLock { state in
            let index = index ?? state.attempts.count - 1
            guard state.attempts.indices.contains(index) else { return }
            change(&state.attempts[index].record)
        }
    }
}

extension Flight {
    /// Keeps the endpoint as it was given; its parameters are read when somebody reads the record.
    func setEndpoint(_ endpoint: any Endpoint) {
        state.withLock { $0.given = endpoint }
    }

    /// Keeps the parameters that are sent beside those common to the service, with those that the endpoint completed.
    func setSent(_ parameters: Parameters) {
        state.withLock { $0.sent = parameters }
    }

    /// How many requests went to the transport so far.
    var attemptCount: Int { state.withLock { $0.attempts.count } }

    /// The version of HTTP of a request that went to the transport, counted from 0; `nil` where it is not known.
    func httpVersion(ofAttempt index: Int) -> String? {
        state.withLock { $0.attempts.indices.contains(index) ? $0.attempts[index].record.httpVersion : nil }
    }

    /// Opens the record of a request that goes to the transport; gives its index.
    func beginAttempt(_ request: Request) -> Int {
        let start = clock.now - startTime
        let body: [UInt8]? =
            if recordsBodies, case .bytes(let bytes) = request.body { request.plainBody ?? bytes } else { nil }
        return state.withLock { state in
            state.attempts.append(
                Attempt(
                    request: request.head,
                    record: FlightRecord.Attempt(
                        method: request.head.method, url: "", headerFields: request.head.headerFields,
                        requestByteCount: request.body.byteCount, requestBody: body, start: start)))
            return state.attempts.count - 1
        }
    }

    /// Whether the record holds bodies. An envelope's body holds header fields and bodies as text, in which no secret could be found.
    private var recordsBodies: Bool {
        context.redaction.recordsBodies && (!isEnvelope || context.redaction.headerFields.isEmpty)
    }

    func endAttempt(_ index: Int, with response: Response) {
        let end = clock.now - startTime
        state.withLock { state in
            // What was called off is over, whatever still comes of it.
            guard state.attempts[index].record.end == nil else { return }
            state.attempts[index].record.status = response.head.status
            state.attempts[index].record.responseHeaderFields = response.head.headerFields
            guard case .whole(let rawData) = response.body else { return }
            state.attempts[index].record.end = end
            state.attempts[index].record.responseByteCount = rawData.bytes.count
            if recordsBodies { state.attempts[index].record.responseBody = rawData.bytes }
        }
    }

    func endAttempt(_ index: Int, failing error: NetworkError) {
        cancelAttempt(index, because: error.detail)
    }

    /// Closes the record of an attempt without an answer, unless it is closed.
    func cancelAttempt(_ index: Int, because reason: String) {
        let end = clock.now - startTime
        changeAttempt(index) { record in
            guard record.end == nil else { return }
            record.end = end
            record.failure = reason
        }
    }

    /// Closes the record of an attempt, or of the last, whose body was read as a stream. After the end of the call it changes nothing.
    func endStream(_ index: Int?, byteCount: Int, failing error: NetworkError?) {
        let end = clock.now - startTime
        state.withLock { state in
            let index = index ?? state.attempts.count - 1
            guard state.attempts.indices.contains(index), state.ending == nil else { return }
            state.attempts[index].record.end = end
            state.attempts[index].record.responseByteCount = byteCount
            state.attempts[index].record.failure = error?.detail
        }
    }

    func setSource(_ source: ResponseSource) {
        state.withLock { $0.source = source }
    }

    /// Gives an error what the flight knows of where it arose.
    func locate(_ error: NetworkError) -> NetworkError {
        var error = error
        error.detail = context.redaction.redacted(detail: error.detail).oneLine
        let attempt = state.withLock { state in
            state.attempts.last.map { ($0.request, state.attempts.count, context.redaction.hidden(state.secrets)) }
        }
        guard let (last, count, secrets) = attempt else { return error }
        if error.request == nil {
            error.request = "\(last.method) \(context.redaction.redacted(url: secrets.masked(last.urlText)))"
        }
        if error.host == nil { error.host = Origin(last).host }
        if error.attempt == 0 { error.attempt = count }
        return error
    }

    /// Whether the call has ended.
    var isOver: Bool { state.withLock { $0.ending != nil } }

    /// Ends the call with an outcome. The first ending counts; gives whether this was it.
    @discardableResult
    func finish(_ outcome: FlightOutcome) -> Bool {
        let instant = clock.now
        let (isFirst, isHeld) = state.withLock { state in
            guard state.ending == nil else { return (false, state.isHeld) }
            state.ending = (outcome, instant)
            return (true, state.isHeld)
        }
        if isFirst { releaseRead() }
        if isFirst, !isHeld { context.events.enqueue(self) }
        return isFirst
    }

    /// Holds the record back although the call may end, since its request continues for others.
    func holdRecord() {
        // A call that has ended has reported its record already.
        state.withLock { $0.isHeld = $0.ending == nil }
    }

    /// Reports the record that was held back, if the call has ended.
    func releaseRecord() {
        let isOver = state.withLock { state in
            defer { state.isHeld = false }
            return state.isHeld && state.ending != nil
        }
        if isOver { context.events.enqueue(self) }
    }

    /// Notes what authenticates the call. Whether its record shows it is a matter of ``Redaction``, and changes nothing else.
    func addSecrets(_ fields: Set<HTTPField.Name>, _ texts: [String], isBodySecret: Bool = false) {
        state.withLock { $0.secrets.add(fields, texts, isInBody: isBodySecret) }
    }

    /// What authenticates the call beside the fields that may do so by their names.
    var authentication: CallAuthentication {
        let secrets = state.withLock { $0.secrets }
        return CallAuthentication(fields: secrets.fields, isInBody: isEnvelope || secrets.isInBody)
    }

    /// Whose call this is, if a manager's that is still there.
    var manager: (any APIManaging)? { owner.withLock { $0.manager } }
    /// Says whose call this is; the manager is held weakly.
    func setManager(_ manager: any APIManaging) { owner.withLock { $0.manager = manager } }

    /// The flights that wait for the request of this one: itself, unless it left, and those who joined it.
    var companions: [Flight] { waitingFlights ?? [self] }

    /// Ends the call with an error; gives the error with all that the flight knows of where it arose.
    func finish(failing error: NetworkError) -> NetworkError {
        let error = locate(isEndedBySignOut ? signedOut(in: error.step) : error)
        switch error.kind {
        case .cancelled: finish(.cancelled)
        default:
            if error.isAbsorbed, let cause = error.serviceError {
                finish(.absorbed(cause))
            } else {
                finish(.failed(error))
            }
        }
        return error
    }

    /// Whether a decision of this kind is on the record.
    func hasNoted(_ isMeant: (any StageDecision) -> Bool) -> Bool {
        state.withLock { $0.decisions.contains { isMeant($0.decision) } }
    }

    /// Tells the sinks again, of a call that has ended and of which there is more to say.
    func amend() {
        if state.withLock({ $0.ending != nil && !$0.isHeld }) { context.events.enqueue(self, isAmendment: true) }
    }

    /// The record so far, without what `redaction` keeps out of it.
    package func record(_ redaction: Redaction) -> FlightRecord {
        let state = state.withLock { $0 }
        let secrets = redaction.hidden(state.secrets)
        let sent = state.sent?.merging(defaults: configuration.settings.commonParameters)
        let end = state.ending?.instant ?? clock.now
        return FlightRecord(
            id: id, network: context.network, service: service.name, endpoint: endpoint.name,
            date: clock.date.addingTimeInterval(-(clock.now - startTime).seconds), duration: end - startTime,
            parameters: redaction.redacted((try? state.given?.parameters) ?? [:]),
            sentParameters: sent.map(redaction.redacted), decisions: state.decisions,
            attempts: state.attempts.map { redaction.redacted($0.written(without: secrets)) },
            source: state.source, outcome: redaction.redacted(state.ending?.outcome ?? .cancelled),
            traceContext: traceContext)
    }
}
