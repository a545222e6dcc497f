import Synchronization

/// One call on its way through the pipeline: its endpoint, options and account, its deadline, and the record that
/// stages write to.
///
/// A stage of the app receives the flight with each request:
///
/// ```swift
/// if flight.deadline - flight.clock.now < .seconds(1) {
///     flight.note("late", fields: ["call": "\(flight.id)"], "less than a second is left", in: step)
/// }
/// ```
public final class Flight: Sendable {
    /// The number of the call in its layer.
    public let id: FlightID
    /// The endpoint type of the call.
    public let endpoint: any Endpoint.Type
    /// The options that override the endpoint's settings for this call.
    public let options: CallOptions
    /// The clocks of the layer.
    public var clock: LayerClock { context.clock }
    /// The time on the layer's clock at which the call was made.
    public let startTime: Duration
    /// The time on the layer's clock by which the call must end.
    ///
    /// If other calls share this call's request, it is the latest deadline of all calls that still wait for the
    /// request.
    public var deadline: Duration {
        waitingFlights?.map(\.ownDeadline).max() ?? ownDeadline
    }

    /// The time by which this call must end, regardless of calls that share its request.
    var ownDeadline: Duration {
        if isEndedEarly { return startTime }
        let own = startTime + .nanoseconds(lastByteTime.load(ordering: .relaxed)) + lifetime
        return wholeDeadline.map { min(own, $0) } ?? own
    }

    /// The maximum duration of the call. For a transfer, the maximum time without a byte sent or received.
    let lifetime: Duration
    /// The time from the start to the last sent or received byte of a transfer, in nanoseconds; 0 for all other calls.
    let lastByteTime = Atomic<Int64>(0)

    /// Whether a call that bypasses open circuits has joined this call.
    private let isJoinedByBypass = Atomic(false)

    /// Whether the app's background time expired before the call ended.
    let isOutOfGrace = Atomic(false)

    /// The service of the endpoint.
    public var service: any APIService.Type { configuration.service }
    /// The environment of the service when the call was made.
    public var environment: ServiceEnvironment { configuration.settings.environment }
    /// The account that was signed in when the call was made; `nil` if no account was signed in.
    public var account: String? { configuration.settings.account }
    /// The origin of the service when the call was made; `nil` if its base URL is invalid.
    package var serviceOrigin: Origin? { try? Origin(configuration.baseURL.get().head) }
    /// The cache policy of the call. It is the policy in its options, or else its endpoint's policy.
    public var cachePolicy: CachePolicy { options.cache ?? endpoint.cache }
    /// The retry policy of the call. It is the policy in its options, or else its endpoint's policy.
    public var retryPolicy: RetryPolicy { options.retry ?? endpoint.retry }
    /// Determines whether the call carries the service's access token. It is the policy in its options, or else its
    /// endpoint's policy.
    public var authorization: AuthorizationPolicy { options.authorization ?? endpoint.authorization }
    /// The delivery of a response that is collected in memory.
    var wholeDelivery: ResponseDelivery {
        .whole(maximumByteCount: options.maximumResponseByteCount ?? endpoint.maximumResponseByteCount)
    }
    /// The service's policy for merging requests when the call was made; `nil` if requests are not merged.
    var mergePolicy: MergePolicy? { configuration.settings.merging }
    /// The priority of the call. A call that renews an access token is urgent, since other calls in flight wait for it.
    ///
    /// If other calls share this call's request, it is the highest of this call's own priority and the priorities of
    /// the calls that still wait for the request.
    public var priority: CallPriority {
        let own = renewing.isEmpty ? options.priority ?? endpoint.priority : .urgent
        return waitingFlights?.reduce(own) { $1 === self ? $0 : max($0, $1.priority) } ?? own
    }

    /// Values that the creator of the call attached to it, such as the services whose access tokens it renews. Most
    /// calls have none.
    let traits: StageValues
    let context: FlightContext
    /// Retains the layer and its transports while the call, or its streamed body, is in flight.
    let retainedLayer: any AnyObject & Sendable
    /// The time at which the call got its concurrency slot, in nanoseconds after its start; ``noSlot`` while it has no
    /// slot.
    let slotTime = Atomic(Flight.noSlot)
    /// The manager that made the call; `nil` if there is none or it was released.
    weak let manager: (any APIManaging)?
    /// Guards the values that stages remember for the call. For most calls there are none, and nothing is allocated.
    private let values = Mutex(StageValues())
    /// The state of the reading stage for the call.
    let reading: FlightReading
    let configuration: ServiceConfiguration
    /// The record of the call, which grows while the call is in flight.
    let recorder: FlightRecorder

    init(
        id: FlightID, endpoint: any Endpoint.Type, configuration: ServiceConfiguration, options: CallOptions,
        lifetime: Duration, context: FlightContext, retainedLayer: any AnyObject & Sendable,
        traits: StageValues = StageValues(), manager: (any APIManaging)? = nil, start: UInt64? = nil
    ) {
        self.id = id
        self.endpoint = endpoint
        self.configuration = configuration
        self.options = options
        self.context = context
        self.retainedLayer = retainedLayer
        self.traits = traits
        self.manager = manager
        reading = FlightReading(start: start ?? context.cache.lastSequenceNumber)
        let startTime = context.clock.now
        self.startTime = startTime
        self.lifetime = lifetime
        recorder = FlightRecorder(context, start: startTime)
        let fields = configuration.authenticatingFields
        if !fields.isEmpty { recorder.addSecrets(fields, [], isBodySecret: false) }
    }

    /// Runs `operation`, and calls `handler` if the deadline of the call passes before `operation` ends. For
    /// transports.
    ///
    /// - Parameters:
    ///   - operation: The work that may take until the deadline.
    ///   - handler: Called at most once, on any thread. Called at once if the deadline has already passed. It must
    ///     return soon, and make `operation` end.
    /// - Throws: Only the errors of `operation`. The deadline itself throws nothing.
    public func withDeadlineHandler<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value, onDeadline handler: @escaping @Sendable () -> Void
    ) async throws(Failure) -> Value {
        // If calls share a request, each observes its own deadline. When the last deadline has passed, the request is
        // cancelled.
        if isLeading { return try await operation() }
        let token = context.deadlines.schedule(at: ownDeadline, of: self, expire: handler)
        defer { context.deadlines.remove(token) }
        return try await operation()
    }

    /// Restarts the time in which the call must end, because bytes of a transfer were sent or received.
    func extendDeadline() {
        lastByteTime.store((clock.now - startTime).nanoseconds, ordering: .relaxed)
    }
}

extension Flight {
    /// Returns the value that a stage remembers for the call under a key. If there is no value yet, stores and returns
    /// `value`.
    func remembered<Key: StageValueKey, Value: Sendable>(
        _ key: Key.Type, or value: Value
    ) -> Value where Key.Value == Value? {
        values.withLock { values in
            if let former = values[key] { return former }
            values[key] = value
            return value
        }
    }

    /// Whether the request bypasses open circuits: at least one of the calls that wait for it does.
    var bypassesCircuit: Bool {
        flightsSharingRequest.contains { $0.options.bypassesCircuit || $0.isJoinedByBypass.load(ordering: .relaxed) }
    }

    /// Makes the call bypass open circuits, because a call that bypasses them has joined it.
    func bypassCircuits() { isJoinedByBypass.store(true, ordering: .relaxed) }

    /// The flights of the calls that wait for this call's request: those that joined it, and this flight if its call
    /// still waits.
    var flightsSharingRequest: [Flight] { waitingFlights ?? [self] }
}

extension Flight {
    var session: AccountSession { configuration.session }

    /// Whether the call was cancelled because its account signed out or because the app's background time expired. Its
    /// deadline then counts as passed, so that nothing waits for it.
    var isEndedEarly: Bool { session.areCallsCancelled || isOutOfGrace.load(ordering: .acquiring) }

    /// Whether the account session in which the call was made is still the current session of its service.
    var belongsToCurrentSession: Bool {
        func current<Service: APIService>(_ service: Service.Type) -> AccountSession {
            context.services.configuration(of: service).session
        }
        return current(service) == session
    }

    /// Whether the call's account is signed in. A call that was made while no account was signed in belongs to every
    /// account.
    var belongsToCurrentAccount: Bool { account == nil || belongsToCurrentSession }

    /// Returns the error of a call that was cancelled because its account signed out or the app's background time
    /// expired.
    func earlyEnd(in step: FlightStep, sending: SendState = .unknown) -> NetworkError {
        let reason =
            session.areCallsCancelled
            ? "\(account ?? "The account") signed out of \(service.name)" : "The app's time in the background was over"
        return NetworkError(.cancelled, in: step, "\(reason) before the call ended.", sending: sending)
    }

    func checkSession(in step: FlightStep) throws(NetworkError) {
        if isEndedEarly { throw earlyEnd(in: step, sending: .sent) }
    }
}

extension Flight {
    /// Whether the call's account signed out and its calls were cancelled.
    package var isSignedOut: Bool { session.areCallsCancelled }
}
