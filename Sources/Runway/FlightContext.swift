import Synchronization

/// The parts of a layer that all its flights use, whichever stages they pass.
final class FlightContext: Sendable {
    /// The name of the layer.
    let network: String
    let clock: LayerClock
    let deadlines: DeadlineTimer
    let randomness: LayerRandomness
    /// The stored responses, the reads in flight, and the sequence numbers of requests.
    let cache: ResponseCache
    let cookieJars: CookieJars
    let services: ServiceConfigurations
    let redaction: Redaction
    /// Passes records to the sinks.
    let events: EventQueue
    /// Obtains the system's time in the background for calls that send a request; `nil` if the app provides none.
    let grace: GraceControl?
    private let flightCount = Atomic<UInt64>(0)

    init(
        network: String, clock: LayerClock, deadlines: DeadlineTimer, randomness: LayerRandomness,
        cache: ResponseCache, cookieJars: CookieJars,
        services: ServiceConfigurations, redaction: Redaction, events: EventQueue, grace: GraceControl?
    ) {
        self.network = network
        self.clock = clock
        self.deadlines = deadlines
        self.randomness = randomness
        self.cache = cache
        self.cookieJars = cookieJars
        self.services = services
        self.redaction = redaction
        self.events = events
        self.grace = grace
    }

    /// Returns the number of the next call.
    func makeID() -> FlightID { FlightID(number: flightCount.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Creates the flight of a call, which keeps `retainedLayer` alive while it is in flight.
    ///
    /// - Parameter manager: The manager that makes the call, which is held weakly. The default is `nil`.
    func makeFlight<E: Endpoint>(
        _ endpoint: E.Type, _ options: CallOptions, for manager: (any APIManaging)? = nil,
        retainedLayer: any AnyObject & Sendable
    ) -> Flight {
        let service = E.Service.self
        // Read before the session: a sign-out in between then has a later sequence number, and no response to this call
        // is stored after it.
        let start = cache.lastSequenceNumber
        let renewals = RenewalScope.scopes(of: self)
        let configuration =
            renewals.last { $0.configuration.service == service }?.configuration ?? services.configuration(of: service)
        let lifetime = options.deadline ?? E.deadline ?? configuration.settings.deadline
        // No clock counts further than a year; a negative lifetime has passed already.
        let bounded = min(max(lifetime, .zero), .seconds(365 * 86_400))
        let flight = Flight(
            id: makeID(), endpoint: endpoint, configuration: configuration, options: options,
            lifetime: bounded, context: self, retainedLayer: retainedLayer,
            traits: renewals.isEmpty ? StageValues() : .renewing(renewals), manager: manager,
            start: configuration.session.isOver ? 0 : start)
        if options.landsOnce { flight.forgoProvisional() }
        return flight
    }
}
