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

    let cookieJars: CookieJars
    let deadlines: DeadlineTimer
    let retries: RetryControl
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
    /// The stages that every request passes, made for this layer.
    let chain: StageChain
    let context: FlightContext

    /// The settings of the services, and the sessions of their accounts.
    let services: ServiceConfigurations
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
        let deadlines = DeadlineTimer(clock: clock)
        cache = ResponseCache(
            limits: limits.cache, http: limits.httpCache, sharing: limits.coalescing, tier: diskCache, clock: clock,
            timer: deadlines)
        events = EventQueue(sinks: sinks, redaction: redaction)
        #if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            memoryPressure = SystemMemoryPressure(relieving: cache)
        #endif
        track = Mutex(NetworkTrack(status.current))
        services = ServiceConfigurations()
        let randomness = LayerRandomness(randomness)
        let parts = LayerParts(
            deadlines: deadlines, cache: cache, admission: AdmissionControl(limits.admission),
            connectivity: NetworkStatusMonitor(status),
            retries: RetryControl(limits: limits.retrying, randomness: randomness),
            hedges: HedgeControl(limits: limits.hedging),
            tokens: TokenKeeper(network: name, store: tokens, limits.authorizing, clock: clock, timer: deadlines),
            merger: Merger(clock: clock, timer: deadlines), strictTransport: StrictTransport(),
            cookieJars: CookieJars())
        context = FlightContext(
            network: name, clock: clock, deadlines: deadlines, randomness: randomness, cache: cache,
            cookieJars: parts.cookieJars, services: services, redaction: redaction, events: events)
        chain = pipeline.chain(of: parts)
        (self.deadlines, self.tokens) = (deadlines, parts.tokens)
        (cookieJars, retries, merger) = (parts.cookieJars, parts.retries, parts.merger)
        (connectivity, admission) = (parts.connectivity, parts.admission)
        connectivity.start { [weak self] status in self?.networkDidChange(to: status) }
        self.tokens.setOwner(tokenOwner)
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
        context.makeFlight(endpoint, options, keeper: self)
    }

    /// Turns a checked endpoint into its request.
    func assemble<E: Endpoint>(
        _ endpoint: E, delivery: ResponseDelivery, in flight: Flight
    ) throws(NetworkError) -> Request {
        let baseURL = try flight.configuration.baseURL.get()
        let content = try CallContent(of: endpoint)
        flight.recorder.setSentParameters(content.parameters)
        return try flight.configuration.settings.assemble(
            endpoint, content, at: baseURL, delivery: delivery, in: flight)
    }

    /// Reads what a checked endpoint says, and what its answer is kept under where memory is asked before the request is made.
    func draft<E: Endpoint>(_ endpoint: E, in flight: Flight) throws(NetworkError) -> RequestDraft {
        if case .failure(let error) = flight.configuration.baseURL { throw error }
        let content = try CallContent(of: endpoint)
        flight.recorder.setSentParameters(content.parameters)
        if flight.cachePolicy.isOfClient {
            flight.setKey(CacheKey(content, of: E.self, in: flight))
        }
        return RequestDraft(content, of: endpoint)
    }

    /// Returns the response that a stage has at once; `nil` if the request has to be sent.
    func answerImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> Response? {
        guard let response = try chain.answerImmediately(&draft, in: flight) else { return nil }
        flight.note(CallDecision.answeredImmediately)
        return response
    }

    /// Sends a request through the stages, over the service's transport or the layer's.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        try await chain.send(request, in: flight, over: flight.configuration.settings.transport ?? transport)
    }
}
