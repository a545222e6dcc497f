import Synchronization

/// One call on its way through the pipeline: its endpoint, options and account, its deadline, and the record that
/// stages write to.
///
/// A stage of the app receives it with each request:
///
/// ```swift
/// if flight.deadline - flight.clock.now < .seconds(1) {
///     flight.note("late", fields: ["call": "\(flight.id)"], "less than a second is left", in: step)
/// }
/// ```
public final class Flight: Sendable {
    /// The number of the call in its layer.
    public let id: FlightID
    /// The type of the endpoint.
    public let endpoint: any Endpoint.Type
    /// The options that override the endpoint's settings for this call.
    public let options: CallOptions
    /// The clocks of the layer.
    public var clock: LayerClock { context.clock }
    /// The instant on the layer's clock at which the call was made.
    public let startTime: Duration
    /// The instant on the layer's clock by which the call must have ended.
    ///
    /// While other calls share the request of this one, it is the latest of theirs and its own that still wait.
    public var deadline: Duration {
        waitingFlights?.map(\.ownDeadline).max() ?? ownDeadline
    }

    /// The instant by which this call must have ended, whichever calls share its request.
    var ownDeadline: Duration {
        if isEndedEarly { return startTime }
        let own = startTime + .nanoseconds(lastByteTime.load(ordering: .relaxed)) + lifetime
        return wholeDeadline.map { min(own, $0) } ?? own
    }

    /// The longest that the call may take; of a transfer, the longest that it may go without a byte.
    let lifetime: Duration
    /// The nanoseconds from the start to the last byte of a transfer that was sent or received; 0 for all other calls.
    let lastByteTime = Atomic<Int64>(0)

    /// Whether a call that bypasses open circuits joined this one.
    private let isJoinedByBypass = Atomic(false)

    /// Whether the app's time in the background was over before the call ended.
    let isOutOfGrace = Atomic(false)

    /// The service of the endpoint.
    public var service: any APIService.Type { configuration.service }
    /// The environment of the service when the call was made.
    public var environment: ServiceEnvironment { configuration.settings.environment }
    /// The account that was signed in to the service then; `nil` if none was.
    public var account: String? { configuration.settings.account }
    /// The origin of the service when the call was made; `nil` if its base URL is invalid.
    package var serviceOrigin: Origin? { try? Origin(configuration.baseURL.get().head) }
    /// The cache policy of the call.
    public var cachePolicy: CachePolicy { options.cache ?? endpoint.cache }
    /// The retry policy of the call.
    public var retryPolicy: RetryPolicy { options.retry ?? endpoint.retry }
    /// Whether the call carries the access token of the service.
    public var authorization: AuthorizationPolicy { options.authorization ?? endpoint.authorization }
    /// The service's policy for merging requests when the call was made; `nil` if it does not merge.
    var mergePolicy: MergePolicy? { configuration.settings.merging }
    /// The priority of the call. A call that renews an access token is urgent, since others in flight wait for it.
    ///
    /// While other calls share the request of this one, it is the highest of theirs that still wait and its own.
    public var priority: CallPriority {
        let own = renewing.isEmpty ? options.priority ?? endpoint.priority : .urgent
        return waitingFlights?.reduce(own) { $1 === self ? $0 : max($0, $1.priority) } ?? own
    }

    /// Values that the code which created the flight attached to it, such as the services whose access tokens it
    /// renews. Most flights have none.
    let traits: StageValues
    /// The parts of the layer that all its flights use.
    let context: FlightContext
    /// Keeps the layer and its transports alive while the call, or a body that is read as a stream, is in flight.
    let retainedLayer: any AnyObject & Sendable
    /// The time at which the call got its concurrency slot, in nanoseconds after its start; ``noSlot`` while it has
    /// none.
    let slotTime = Atomic(Flight.noSlot)
    /// The manager that made the call, if one did and it still exists.
    weak let manager: (any APIManaging)?
    /// Guards the values that stages remember for the call. It is empty for most calls, and then allocates nothing.
    private let values = Mutex(StageValues())
    /// The state that reading holds for the call.
    let reading: FlightReading
    /// The service's settings when the call was made.
    let configuration: ServiceConfiguration
    /// The growing record of the call.
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

    /// Runs `operation`, and calls `handler` if the deadline of the call passes before it has ended. For transports.
    ///
    /// - Parameters:
    ///   - operation: The work that may take until the deadline.
    ///   - handler: Called at most once, on any thread, and at once where the deadline has passed already. It must
    ///     return soon, and make `operation` end.
    /// - Throws: Only the errors of `operation`: the deadline itself throws nothing.
    public func withDeadlineHandler<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value, onDeadline handler: @escaping @Sendable () -> Void
    ) async throws(Failure) -> Value {
        // Calls that share a request each observe their own deadline, and cancel the request when the last of them has passed.
        if isLeading { return try await operation() }
        let token = context.deadlines.schedule(at: ownDeadline, of: self, expire: handler)
        defer { context.deadlines.remove(token) }
        return try await operation()
    }

    /// Restarts the time in which the call must end, since bytes of a transfer were sent or received.
    func extendDeadline() {
        lastByteTime.store((clock.now - startTime).nanoseconds, ordering: .relaxed)
    }
}

extension Flight {
    /// Returns the value that a stage remembers for the call under a key. If there is none yet, stores and returns
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

    /// Whether the request of the call is sent although a circuit is open: one of the calls that wait for it wants
    /// that.
    var bypassesCircuit: Bool {
        flightsSharingRequest.contains { $0.options.bypassesCircuit || $0.isJoinedByBypass.load(ordering: .relaxed) }
    }

    /// Has the call sent although a circuit is open, since a call that wants that lands with this one.
    func bypassCircuits() { isJoinedByBypass.store(true, ordering: .relaxed) }

    /// The flights that wait for the request of this one: itself, unless it left, and those that joined it.
    var flightsSharingRequest: [Flight] { waitingFlights ?? [self] }
}
