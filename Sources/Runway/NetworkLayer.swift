import Synchronization

/// The centralised half: the pipeline that all calls pass, and what they share. One per app.
///
/// Environments, transports, clocks and sinks belong to this value and never to statics, so that two layers live side by side in one
/// process. Business code holds an ``APIManager`` for each API; callers whose next step differs from call to call use
/// ``call(_:options:)`` directly.
///
/// ```swift
/// let network = NetworkLayer(transport: AsyncHTTPTransport())
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
    public let events: EventQueue
    /// What is kept out of records, logs and errors.
    public let redaction: Redaction
    /// The answers that are kept.
    public let cache: ResponseCache

    let deadlines: DeadlineTimer
    #if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
        private let memoryPressure: SystemMemoryPressure
    #endif
    private let transport: any Transport
    private let flightCount = Atomic<UInt64>(0)

    /// A service as this layer uses it, its base URL read once.
    private struct Configuration {
        var settings: ServiceSettings
        var baseURL: Result<BaseURL, NetworkError>
    }

    /// Guards the settings of the services.
    private let configurations = Mutex<[ObjectIdentifier: Configuration]>([:])
    /// The interceptors for every manager of an endpoint, by the endpoint's type.
    @MainActor var interceptors: [ObjectIdentifier: [WeakInterceptor]] = [:]

    /// Makes a layer.
    ///
    /// - Parameters:
    ///   - name: The name that records show.
    ///   - transport: What puts bytes on the wire, for every service that has none of its own.
    ///   - pipeline: The chain of stages. The default is the default stages.
    ///   - clock: The clocks. The default is the system's.
    ///   - sinks: Who is told what happened to every call. The default is nobody.
    ///   - redaction: What is kept out of records, logs and errors. The default is secrets and bodies.
    ///   - cache: How much of the answers is kept in memory. The default is 1,000 of 32 MiB together.
    ///   - diskCache: Where the answers of endpoints that say so are kept beyond memory. The default, `nil`, is nowhere.
    public init(
        name: String = "default", transport: any Transport, pipeline: RequestPipeline = RequestPipeline(),
        clock: LayerClock = .system, sinks: [any EventSink] = [], redaction: Redaction = .default,
        cache: CacheLimits = CacheLimits(), diskCache: (any CacheTier)? = nil
    ) {
        self.name = name
        self.transport = transport
        self.pipeline = pipeline
        self.clock = clock
        self.redaction = redaction
        self.cache = ResponseCache(limits: cache, tier: diskCache)
        events = EventQueue(sinks: sinks, redaction: redaction)
        deadlines = DeadlineTimer(clock: clock)
        #if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
            memoryPressure = SystemMemoryPressure(relieving: self.cache)
        #endif
    }

    /// Changes what this layer uses for a service, such as its environment. The change holds for calls that take off after it.
    ///
    /// ```swift
    /// network.configure(Listings.self) { $0.environment = .development }
    /// ```
    public func configure<Service: APIService>(_ service: Service.Type, _ change: (inout ServiceSettings) -> Void) {
        var settings = settings(of: service)
        change(&settings)
        let configuration = Self.configuration(settings, of: service)
        configurations.withLock { $0[ObjectIdentifier(service)] = configuration }
    }

    /// What this layer uses for a service now.
    public func settings<Service: APIService>(of service: Service.Type) -> ServiceSettings {
        configuration(of: service).settings
    }
}

extension NetworkLayer {
    /// Starts the record of a call.
    func makeFlight<E: Endpoint>(_ endpoint: E.Type, _ options: CallOptions) -> Flight {
        let number = flightCount.wrappingAdd(1, ordering: .relaxed).newValue
        let settings = configuration(of: E.Service.self).settings
        let lifetime = E.deadline ?? settings.deadline
        // No clock needs to count further than a year, and a negative time has passed already.
        let bounded = min(max(lifetime, .zero), .seconds(365 * 86_400))
        return Flight(
            id: FlightID(number: number), endpoint: endpoint, service: E.Service.self, settings: settings,
            options: options, lifetime: bounded, layer: self)
    }

    /// Turns a checked endpoint into its request.
    func assemble<E: Endpoint>(
        _ endpoint: E, delivery: ResponseDelivery, in flight: Flight
    ) throws(NetworkError) -> Request {
        let configuration = configuration(of: E.Service.self)
        return try configuration.settings.assemble(
            endpoint, at: configuration.baseURL.get(), delivery: delivery, in: flight)
    }

    /// The answer that a stage has at once; `nil` if the request has to fly.
    func answerImmediately(_ request: Request, in flight: Flight) throws(NetworkError) -> Response? {
        guard let response = try pipeline.answerImmediately(request, in: flight) else { return nil }
        flight.note(CallDecision.answeredImmediately)
        return response
    }

    /// Sends a request through the stages, over the service's transport or the layer's.
    func send<E: Endpoint>(
        _ request: Request, for endpoint: E.Type, in flight: Flight
    ) async throws(NetworkError) -> Response {
        let transport = configuration(of: E.Service.self).settings.transport ?? transport
        return try await pipeline.send(request, in: flight, over: transport)
    }

    private func configuration<Service: APIService>(of service: Service.Type) -> Configuration {
        let key = ObjectIdentifier(service)
        if let known = configurations.withLock({ $0[key] }) { return known }
        // Made outside the lock, since a service's description is code of the app; of two that are made at once the first counts.
        let made = Self.configuration(ServiceSettings(service), of: service)
        return configurations.withLock { configurations in
            if let known = configurations[key] { return known }
            configurations[key] = made
            return made
        }
    }

    private static func configuration<Service: APIService>(
        _ settings: ServiceSettings, of service: Service.Type
    ) -> Configuration {
        Configuration(
            settings: settings,
            baseURL: Result { () throws(NetworkError) in try settings.baseURL(of: service) })
    }
}
