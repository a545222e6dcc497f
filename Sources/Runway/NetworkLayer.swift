import Synchronization

/// The pipeline that all calls of an app pass, and everything that they share. One per app.
///
/// Environments, transports, clocks and sinks belong to this object and never to statics, so that two layers can live side by side in
/// one process. Business code holds an ``APIManager`` for each API; code whose next step depends on the answer uses
/// ``call(_:options:)`` directly.
///
/// ```swift
/// let network = NetworkLayer(transport: try NIOTransport())
/// let raw = try await network.call(RentalList(city: "上海"))
/// print(raw["result"]["items"][0]["zf_title"].string ?? "nothing")
/// ```
public final class NetworkLayer: Sendable {
    /// The name of the layer, as records show it. The default is `default`.
    public let name: String
    /// The chain that every request passes.
    public let pipeline: RequestPipeline
    /// The clocks that every wait and every date of the layer comes from.
    public let clock: LayerClock
    /// What carries records to the sinks.
    let events: EventQueue
    /// What is kept out of records, logs and errors.
    public let redaction: Redaction
    /// The answers that are kept.
    public let cache: ResponseCache

    let cookieJars = CookieJars()
    /// The hosts that want TLS.
    let strictTransport = StrictTransport()
    let deadlines: DeadlineTimer
    let retries: RetryControl
    let hedges: HedgeControl
    /// The reads under way that calls can share.
    let reads: SharedWork<ReadKey, Response>
    let merger: Merger
    let connectivity: NetworkStatusMonitor
    let admission: AdmissionControl
    /// The access tokens of the services.
    let tokens: TokenKeeper
    #if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
        private let memoryPressure: SystemMemoryPressure
    #endif
    private let transport: any Transport
    /// Guards what is known of the network that connections were made on.
    private let track: Mutex<NetworkTrack>
    private let flightCount = Atomic<UInt64>(0)

    /// The settings of the services, and the sessions of their accounts.
    let services = ServiceConfigurations()
    /// The interceptors for every manager of an endpoint, by the endpoint's type.
    @MainActor var interceptors: [ObjectIdentifier: [WeakInterceptor]] = [:]

    /// Makes a layer.
    ///
    /// - Parameters:
    ///   - name: The name that records show. The default is `default`.
    ///   - transport: What puts bytes on the wire, for every service that has none of its own.
    ///   - pipeline: The chain of stages. The default is the default stages.
    ///   - clock: The clocks. The default is the system's.
    ///   - sinks: What is told what happened to every call. The default is none.
    ///   - redaction: What is kept out of records, logs and errors. The default is secrets and bodies.
    ///   - limits: The bounds of what the calls share; see ``LayerLimits`` for the defaults.
    ///   - diskCache: Where the answers of endpoints that say so are kept beyond memory. The default, `nil`, is nowhere.
    ///   - status: Knows what network the device has. The default knows nothing and takes every host to be reachable.
    ///   - tokens: Where access tokens are kept. The default is the app's memory, which forgets them when the app ends.
    ///   - randomness: What spreads waits in time. The default is the system's; a test gives one with a seed.
    public init(
        name: String = "default", transport: any Transport, pipeline: RequestPipeline = RequestPipeline(),
        clock: LayerClock = .system, sinks: [any EventSink] = [], redaction: Redaction = .default,
        limits: LayerLimits = LayerLimits(), diskCache: (any CacheTier)? = nil,
        status: any NetworkStatusSource = SettableNetworkStatus(), tokens: any TokenStore = MemoryTokenStore(),
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.name = name
        self.transport = transport
        self.pipeline = pipeline
        self.clock = clock
        self.redaction = redaction
        let reads = SharedWork<ReadKey, Response>(in: .stage(.coalescing), limits.coalescing.rules) { $0.endCarrying() }
        self.reads = reads
        deadlines = DeadlineTimer(clock: clock)
        cache = ResponseCache(
            limits: limits.cache, http: limits.httpCache, tier: diskCache, clock: clock, timer: deadlines
        ) { scope in
            // What is under way lands for those who wait; whoever asks after a clear wants to know what is there then.
            reads.close { $0.isCovered(by: scope) }
        }
        events = EventQueue(sinks: sinks, redaction: redaction)
        #if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            memoryPressure = SystemMemoryPressure(relieving: cache)
        #endif
        retries = RetryControl(limits: limits.retrying, randomness: randomness)
        hedges = HedgeControl(limits: limits.hedging)
        self.tokens = TokenKeeper(
            network: name, store: tokens, limits.authorizing, clock: clock, timer: deadlines)
        merger = Merger(clock: clock, timer: deadlines)
        connectivity = NetworkStatusMonitor(status)
        track = Mutex(NetworkTrack(status.current))
        admission = AdmissionControl(limits.admission)
        connectivity.start { [weak self] status in self?.networkDidChange(to: status) }
    }

    /// Changes what this layer uses for a service, such as its environment. The change holds for calls that take off after it.
    ///
    /// `change` may run more than once, where others change the same service at the same time.
    ///
    /// ```swift
    /// network.configure(Listings.self) { $0.environment = .development }
    /// ```
    public func configure<Service: APIService>(_ service: Service.Type, _ change: (inout ServiceSettings) -> Void) {
        services.change(service, change)
    }

    /// Lets the transport of a service make ready for its first call, by connecting where it can. It returns at once, and does nothing
    /// where there is no network or the service has no URL that can be read.
    ///
    /// ```swift
    /// network.warmUp(Listings.self)      // at launch, before the first screen asks
    /// ```
    ///
    /// What was warm, or in use, before the device came to another network is made ready again by itself.
    public func warmUp<Service: APIService>(_ service: Service.Type) {
        let settings = settings(of: service)
        guard isReachable, let url = settings.baseURLs[settings.environment] else { return }
        (settings.transport ?? transport).warmUp(url)
    }

    /// Tells every transport of the layer that what it connected to may be out of reach, where that is so.
    func tellTransports(of status: NetworkStatus) {
        guard track.withLock({ $0.leadsElsewhere(status) }) else { return }
        for transport in [transport] + services.transports { transport.networkDidChange(to: status) }
    }

    /// What this layer uses for a service now.
    public func settings<Service: APIService>(of service: Service.Type) -> ServiceSettings {
        services.configuration(of: service).settings
    }
}

extension NetworkLayer {
    /// Starts the record of a call.
    func makeFlight<E: Endpoint>(_ endpoint: E.Type, _ options: CallOptions) -> Flight {
        let number = flightCount.wrappingAdd(1, ordering: .relaxed).newValue
        let service = E.Service.self
        // Read before the session, so that a sign-out in between clears with a later one; after the sign-out nothing is stored.
        let mark = cache.mark
        let configuration =
            RenewalScope.configuration(of: service, on: self) ?? services.configuration(of: service)
        let lifetime = E.deadline ?? configuration.settings.deadline
        // No clock needs to count further than a year, and a negative time has passed already.
        let bounded = min(max(lifetime, .zero), .seconds(365 * 86_400))
        let flight = Flight(
            id: FlightID(number: number), endpoint: endpoint, configuration: configuration, options: options,
            lifetime: bounded, layer: self, mark: configuration.session.isOver ? 0 : mark)
        if options.landsOnce { flight.forgoProvisional() }
        return flight
    }

    /// Starts the record of a flight that carries the requests of these calls, until the last of them is over.
    func makeCarrier(for flights: [Flight]) -> Flight {
        func carrier<Service: APIService>(_ service: Service.Type) -> any Endpoint.Type { MergedRequests<Service>.self }
        let deadline = flights.map(\.deadline).max() ?? clock.now
        let number = flightCount.wrappingAdd(1, ordering: .relaxed).newValue
        return Flight(
            id: FlightID(number: number), endpoint: carrier(flights[0].service),
            configuration: flights[0].configuration, options: .standard, lifetime: max(.zero, deadline - clock.now),
            layer: self, isEnvelope: true)
    }

    /// Turns a checked endpoint into its request.
    func assemble<E: Endpoint>(
        _ endpoint: E, delivery: ResponseDelivery, in flight: Flight
    ) throws(NetworkError) -> Request {
        let baseURL = try flight.configuration.baseURL.get()
        let content = try CallContent(of: endpoint)
        flight.setSent(content.parameters)
        return try flight.configuration.settings.assemble(
            endpoint, content, at: baseURL, delivery: delivery, in: flight)
    }

    /// Reads what a checked endpoint says, and what its answer is kept under where memory is asked before the request is made.
    func draft<E: Endpoint>(_ endpoint: E, in flight: Flight) throws(NetworkError) -> RequestDraft {
        if case .failure(let error) = flight.configuration.baseURL { throw error }
        let content = try CallContent(of: endpoint)
        flight.setSent(content.parameters)
        if pipeline.memory != nil, flight.cachePolicy.isOfClient {
            flight.setKey(CacheKey(content, of: E.self, in: flight))
        }
        return RequestDraft(content, of: endpoint)
    }

    /// The answer that a stage has at once; `nil` if the request has to fly.
    func answerImmediately(_ request: Request, in flight: Flight) throws(NetworkError) -> Response? {
        guard let response = try pipeline.answerImmediately(request, in: flight) else { return nil }
        flight.note(CallDecision.answeredImmediately)
        return response
    }

    /// Likewise, of a call whose request is made where memory does not answer it.
    func answerImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> Response? {
        guard let response = try pipeline.answerImmediately(&draft, in: flight) else { return nil }
        flight.note(CallDecision.answeredImmediately)
        return response
    }

    /// Sends a request through the stages, over the service's transport or the layer's.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        try await pipeline.send(request, in: flight, over: flight.configuration.settings.transport ?? transport)
    }
}
