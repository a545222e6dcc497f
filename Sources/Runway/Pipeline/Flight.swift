import Foundation
import HTTPTypes
import ServiceContextModule
import Synchronization

/// One call on its way through the pipeline: who it is, how long it may take, and the record that stages write.
public final class Flight: Sendable {
    /// The number of the call in its layer.
    public let id: FlightID
    /// The service that the call is for.
    public let service: any APIService.Type
    /// The endpoint that the call is for.
    public let endpoint: any Endpoint.Type
    /// The environment that the service was in when the call was asked for.
    public let environment: ServiceEnvironment
    /// Who was signed in to the service then; `nil` where nobody was.
    public let account: String?
    /// What this call asks for that differs from what its endpoint says.
    public let options: CallOptions
    /// The clocks of the layer.
    public let clock: LayerClock
    /// The instant on the layer's clock at which the call was asked for.
    public let takeOff: Duration
    /// The instant on the layer's clock by which the call has to be over.
    public let deadline: Duration

    /// The cache policy of the call.
    public var cachePolicy: CachePolicy { options.cache ?? endpoint.cache }

    let layer: NetworkLayer
    /// Guards what caching has to do with the call.
    let caching: Mutex<FlightCaching>
    private let traceContext = ServiceContext.current

    private struct State {
        var parameters = Parameters()
        var decisions: [FlightRecord.Decision] = []
        var attempts: [FlightRecord.Attempt] = []
        var source: AnswerSource?
        var ending: (outcome: FlightOutcome, instant: Duration)?
    }

    /// Guards the growing record.
    private let state = Mutex(State())

    init(
        id: FlightID, endpoint: any Endpoint.Type, service: any APIService.Type, settings: ServiceSettings,
        options: CallOptions, lifetime: Duration, layer: NetworkLayer
    ) {
        self.id = id
        self.endpoint = endpoint
        self.service = service
        environment = settings.environment
        account = settings.account
        self.options = options
        self.layer = layer
        caching = Mutex(FlightCaching(mark: layer.cache.mark))
        clock = layer.clock
        takeOff = layer.clock.now
        deadline = takeOff + lifetime
    }

    /// Writes a decision into the record of the call.
    ///
    /// - Parameters:
    ///   - decision: What was decided.
    ///   - step: Who decided. The default is the step that decisions of this type belong to.
    public func note<D: FlightDecision>(_ decision: D, in step: FlightStep = D.step) {
        let elapsed = clock.now - takeOff
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
    public func withDeadlineHandler<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value, onDeadline handler: @escaping @Sendable () -> Void
    ) async throws(Failure) -> Value {
        let token = layer.deadlines.schedule(at: deadline, expire: handler)
        defer { layer.deadlines.remove(token) }
        return try await operation()
    }

    /// Writes down which version of HTTP the current attempt uses. For transports that know.
    public func noteHTTPVersion(_ version: String) {
        state.withLock { state in
            guard !state.attempts.isEmpty else { return }
            state.attempts[state.attempts.count - 1].httpVersion = version
        }
    }
}

extension Flight {
    func setParameters(_ parameters: Parameters) {
        state.withLock { $0.parameters = parameters }
    }

    /// How many requests went to the transport so far.
    var attemptCount: Int { state.withLock { $0.attempts.count } }

    /// Opens the record of a request that goes to the transport; gives its index.
    func beginAttempt(_ request: Request) -> Int {
        let start = clock.now - takeOff
        let body: [UInt8]? =
            if layer.redaction.keepsBodies, case .bytes(let bytes) = request.body { bytes } else { nil }
        return state.withLock { state in
            state.attempts.append(
                FlightRecord.Attempt(
                    method: request.head.method, url: request.url, headerFields: request.head.headerFields,
                    requestByteCount: request.body.byteCount, requestBody: body, start: start))
            return state.attempts.count - 1
        }
    }

    func endAttempt(_ index: Int, with response: Response) {
        let end = clock.now - takeOff
        state.withLock { state in
            state.attempts[index].status = response.head.status
            state.attempts[index].responseHeaderFields = response.head.headerFields
            guard case .whole(let rawData) = response.body else { return }
            state.attempts[index].end = end
            state.attempts[index].responseByteCount = rawData.bytes.count
            if layer.redaction.keepsBodies { state.attempts[index].responseBody = rawData.bytes }
        }
    }

    func endAttempt(_ index: Int, failing error: NetworkError) {
        let end = clock.now - takeOff
        state.withLock {
            $0.attempts[index].end = end
            $0.attempts[index].failure = error.detail
        }
    }

    /// Closes the record of the last attempt, whose body was read as a stream. After the end of the call it changes nothing.
    func endStream(byteCount: Int, failing error: NetworkError?) {
        let end = clock.now - takeOff
        state.withLock { state in
            guard !state.attempts.isEmpty, state.ending == nil else { return }
            let index = state.attempts.count - 1
            state.attempts[index].end = end
            state.attempts[index].responseByteCount = byteCount
            state.attempts[index].failure = error?.detail
        }
    }

    func setSource(_ source: AnswerSource) {
        state.withLock { $0.source = source }
    }

    /// Gives an error what the flight knows of where it arose.
    func locate(_ error: NetworkError) -> NetworkError {
        var error = error
        let attempt = state.withLock { state in state.attempts.last.map { ($0, state.attempts.count) } }
        guard let (last, count) = attempt else { return error }
        if error.request == nil { error.request = "\(last.method) \(layer.redaction.redacted(url: last.url))" }
        if error.host == nil { error.host = last.host }
        if error.attempt == 0 { error.attempt = count }
        return error
    }

    /// Ends the call with an outcome. The first ending counts; gives whether this was it.
    @discardableResult
    func finish(_ outcome: FlightOutcome) -> Bool {
        let instant = clock.now
        let isFirst = state.withLock { state in
            guard state.ending == nil else { return false }
            state.ending = (outcome, instant)
            return true
        }
        if isFirst { layer.events.enqueue(self) }
        return isFirst
    }

    /// Ends the call with an error; gives the error with all that the flight knows of where it arose.
    func finish(failing error: NetworkError) -> NetworkError {
        let error = locate(error)
        switch error.kind {
        case .cancelled: finish(.cancelled)
        case .service(let cause) where error.isAbsorbed: finish(.absorbed(cause))
        default: finish(.failed(error))
        }
        return error
    }

    /// Tells the sinks again, of a call that has ended and of which there is more to say.
    func amend() {
        if state.withLock({ $0.ending != nil }) { layer.events.enqueue(self) }
    }

    /// The record so far, without what `redaction` keeps out of it.
    func record(_ redaction: Redaction) -> FlightRecord {
        let state = state.withLock { $0 }
        let end = state.ending?.instant ?? clock.now
        return FlightRecord(
            id: id, network: layer.name, service: service.name, endpoint: endpoint.name,
            date: clock.date.addingTimeInterval(-(clock.now - takeOff).seconds), duration: end - takeOff,
            parameters: redaction.redacted(state.parameters), decisions: state.decisions,
            attempts: state.attempts.map(redaction.redacted), source: state.source,
            outcome: state.ending?.outcome ?? .cancelled, traceContext: traceContext)
    }
}

extension FlightRecord.Attempt {
    /// The host of the URL, without its port.
    fileprivate var host: String? {
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
            return String(authority)
        }
        return String(authority[..<colon])
    }
}

extension Duration {
    /// The duration in seconds, with its fraction.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
