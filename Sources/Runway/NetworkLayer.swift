import Synchronization

/// Sends the calls of an app through one pipeline, and holds the resources that the calls share: cache, connections,
/// tokens, limits. Most apps have one network layer.
///
/// Environments, transports, clocks and sinks belong to this object and never to static properties, so that two layers
/// can exist in one process. Controllers use an ``APIManager`` for each endpoint. Code whose next step depends on the
/// response calls ``call(_:options:)`` directly.
///
/// ```swift
/// let network = NetworkLayer(transport: try NIOTransport())
/// let raw = try await network.call(RentalList(city: "上海"))
/// print(raw["result"]["items"][0]["zf_title"].string ?? "nothing")
/// ```
public final class NetworkLayer: Sendable {
    /// The name of the layer in records. The default is `default`.
    public let name: String
    /// The sequence of stages that every request passes.
    public let pipeline: RequestPipeline
    /// The clocks for all waits and dates of the layer.
    public let clock: LayerClock
    let events: EventQueue
    /// The rules by which secrets are removed from records, logs and errors.
    public let redaction: Redaction
    /// The stored responses of the layer's calls.
    public let cache: ResponseCache

    let cookieJars: CookieJars
    let deadlines: DeadlineTimer
    let retries: RetryControl
    let merger: Merger
    let fileClaims = FileClaims()
    let connectivity: NetworkStatusMonitor
    let admission: AdmissionControl
    let tokens: AccessTokens
    #if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
        private let memoryPressure: SystemMemoryPressure
    #endif
    /// Sends the requests of every service without its own transport.
    let transport: TransportLink
    /// Guards the status of the network on which connections were opened.
    private let track: Mutex<NetworkTrack>
    let chain: StageChain
    let context: FlightContext

    /// The settings of the services, and the sessions of their accounts.
    let services: ServiceConfigurations
    private let serviceChanges = ServiceChanges()
    let interceptors = InterceptorRegistry()
    /// Stores calls that can't be sent now; `nil` if the layer has no offline queue.
    let offlineQueue: (any ChangeQueue)?
    /// Notifies managers of the outcomes of their stored calls.
    let changeReports = ChangeReports()
    /// The calls that the app may resume.
    @MainActor var resumable: ResumableCalls
    /// The values that the calls of the layer share, for targets that depend on this one.
    package let values = ValuesByType()

    /// Creates a layer, which connects an app with its services over a transport. Most apps have one layer, created at
    /// launch.
    ///
    /// - Parameters:
    ///   - name: The name in records. The default is `default`.
    ///   - transport: Sends the requests of every service without its own transport.
    ///   - pipeline: The sequence of stages. The default is the default stages.
    ///   - clock: The clocks. The default is the system's clocks.
    ///   - sinks: Receive a record of every call. The default is empty.
    ///   - redaction: The rules by which secrets are removed from records, logs and errors. By default secrets and
    ///     bodies are removed.
    ///   - limits: The limits of the resources that the calls share; see ``LayerLimits`` for the defaults.
    ///   - diskCache: Stores responses of endpoints whose policy allows storing on disk. The default, `nil`, stores
    ///     none on disk.
    ///   - offlineQueue: Stores calls of endpoints with an ``OfflinePolicy`` while they can't be sent. The default,
    ///     `nil`, stores none.
    ///   - status: Reports the device's network. By default no network is reported, and every host counts as reachable.
    ///     The exception is a layer over a ``URLSessionTransport`` on Apple's systems, where the default is the
    ///     system's status.
    ///   - tokens: Stores access tokens, and the name of the account that is signed in. The default, `nil`, stores them
    ///     in memory until the app ends.
    ///   - grace: Requests background time from the system for calls in flight. The default, `nil`, requests none.
    ///   - randomness: Randomises backoff. The default is the system's generator; tests pass a seeded one.
    public init(
        name: String = "default", transport: any Transport, pipeline: RequestPipeline = RequestPipeline(),
        clock: LayerClock = .system, sinks: [any EventSink] = [], redaction: Redaction = .default,
        limits: LayerLimits = LayerLimits(), diskCache: (any CacheTier)? = nil,
        offlineQueue: (any ChangeQueue)? = nil,
        status: any NetworkStatusSource = SettableNetworkStatus(), tokens: (any TokenStore)? = nil,
        grace: (any BackgroundGrace)? = nil,
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.name = name
        self.transport = TransportLink(transport)
        self.pipeline = pipeline
        self.clock = clock
        self.redaction = redaction
        resumable = ResumableCalls(
            maximumCount: LayerLimits.maximumResumableCalls, lifetime: LayerLimits.resumptionTime)
        let deadlines = DeadlineTimer(clock: clock)
        cache = ResponseCache(
            limits: limits.cache, tier: diskCache, clock: clock, timer: deadlines)
        events = EventQueue(sinks: sinks, redaction: redaction)
        #if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            memoryPressure = SystemMemoryPressure(relieving: cache)
        #endif
        track = Mutex(NetworkTrack(status.current))
        let randomness = LayerRandomness(randomness)
        let accessTokens = AccessTokens(
            network: name, store: tokens ?? MemoryTokenStore(), storeDeadline: limits.tokenStoreDeadline,
            maximumCallsPerRenewal: limits.maximumCallsPerRenewal, maximumAccounts: limits.maximumAccounts,
            clock: clock, timer: deadlines)
        services = ServiceConfigurations(accessTokens.signedInAccounts)
        let parts = LayerParts(
            deadlines: deadlines, cache: cache, admission: AdmissionControl(limits.admission),
            connectivity: NetworkStatusMonitor(status),
            retries: RetryControl(limits: limits.retrying, randomness: randomness),
            hedges: HedgeControl(limits: limits.hedging),
            tokens: accessTokens,
            merger: Merger(clock: clock, timer: deadlines), strictTransport: StrictTransport(),
            cookieJars: CookieJars(), offlineQueue: offlineQueue, changeReports: changeReports)
        context = FlightContext(
            network: name, clock: clock, deadlines: deadlines, randomness: randomness, cache: cache,
            cookieJars: parts.cookieJars, services: services, redaction: redaction, events: events,
            grace: grace.map { GraceControl($0, deadlines) })
        chain = pipeline.chain(of: parts)
        self.offlineQueue = offlineQueue
        (self.deadlines, self.tokens) = (deadlines, parts.tokens)
        (cookieJars, retries, merger) = (parts.cookieJars, parts.retries, parts.merger)
        (connectivity, admission) = (parts.connectivity, parts.admission)
        connectivity.start { [weak self] status in self?.networkDidChange(to: status) }
        self.tokens.setOwner(tokenOwner)
        offlineQueue?.start(for: self)
    }

    /// Changes the settings that this layer uses for a service, such as its environment. The change applies to calls
    /// that start after it.
    ///
    /// `change` runs again if another task changed the same service in the meantime.
    ///
    /// ```swift
    /// network.configure(Listings.self) { $0.environment = .development }
    /// ```
    public func configure<Service: APIService>(_ service: Service.Type, _ change: (inout ServiceSettings) -> Void) {
        services.change(service, change)
        servicesDidChange()
    }

    /// Prepares the transport of a service for its first call, by connecting if it can. Returns immediately. Does
    /// nothing if there is no network or the service's URL is invalid.
    ///
    /// ```swift
    /// network.warmUp(Listings.self)      // at launch, before the first screen asks
    /// ```
    ///
    /// After a change of network, connections that were prepared or in use are prepared again automatically.
    public func warmUp<Service: APIService>(_ service: Service.Type) {
        let settings = settings(of: service)
        guard isReachable, let url = settings.baseURLs[settings.environment] else { return }
        (settings.transport ?? transport.transport).warmUp(url)
    }

    /// If a change of network may have broken connections, notifies every transport of the layer.
    func notifyTransports(of status: NetworkStatus) {
        guard track.withLock({ $0.record(status) }) else { return }
        for transport in [transport.transport] + services.transports { transport.networkDidChange(to: status) }
    }

    /// Returns the settings that this layer currently uses for a service.
    public func settings<Service: APIService>(of service: Service.Type) -> ServiceSettings {
        services.configuration(of: service).settings
    }
}

extension NetworkLayer {
    /// Called when an account signed in or out, or when the settings of a service changed.
    func servicesDidChange() {
        offlineQueue?.servicesDidChange()
        serviceChanges.report()
    }

    /// Yields an element after sign-ins, sign-outs and changes of settings. Several changes may share one element. Ends
    /// when the layer is released.
    package var servicesChanges: AsyncStream<Void> { serviceChanges.changes() }

    /// Requests background time from the system for work around calls. Returns `nil` if the app has no
    /// ``BackgroundGrace``.
    ///
    /// The background time ends when the returned value is released, or earlier.
    package func beginGrace(_ name: String) -> GraceHold? { context.grace?.hold(name) }

    /// Returns a call number that is greater than the numbers of all earlier calls. It is used for a response whose
    /// call is unknown.
    package func makeFlightID() -> FlightID { context.makeID() }
}

extension NetworkLayer {
    /// The number of dropped records. A record is dropped if more than 4,096 records are pending because the sinks are
    /// too slow.
    public var droppedRecordCount: Int { events.droppedRecordCount }

    /// Waits until the sinks have received every record that was created before this call, or until the task is
    /// cancelled.
    public func flushRecords() async { await events.flush() }
}
