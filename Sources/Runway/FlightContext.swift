import Synchronization

/// The parts of a network layer that all its calls share.
final class FlightContext: Sendable {
    let network: String
    let clock: LayerClock
    let deadlines: DeadlineTimer
    let randomness: LayerRandomness
    let cache: ResponseCache
    let cookieJars: CookieJars
    let services: ServiceConfigurations
    let redaction: Redaction
    let events: EventQueue
    /// Requests background time for calls that send a request; `nil` if the app provides none.
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

    func makeID() -> FlightID { FlightID(number: flightCount.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Creates the flight of a call: the object that represents the call while it runs. The flight retains
    /// `retainedLayer` until the call ends.
    ///
    /// - Parameter manager: The manager that makes the call. It is referenced weakly. The default is `nil`.
    func makeFlight<E: Endpoint>(
        _ endpoint: E.Type, _ options: CallOptions, for manager: (any APIManaging)? = nil,
        retainedLayer: any AnyObject & Sendable
    ) -> Flight {
        let service = E.Service.self
        // The sequence number is read before the account's session. A sign-out between the two reads then has a later
        // number, so no response to this call is stored after the sign-out.
        let start = cache.lastSequenceNumber
        let renewals = RenewalScope.scopes(of: self)
        let configuration =
            renewals.last { $0.configuration.service == service }?.configuration ?? services.configuration(of: service)
        let lifetime = options.deadline ?? E.deadline ?? configuration.settings.deadline
        // A lifetime is limited to a year so that clocks do not overflow. A negative lifetime has already passed.
        let bounded = min(max(lifetime, .zero), .seconds(365 * 86_400))
        let flight = Flight(
            id: makeID(), endpoint: endpoint, configuration: configuration, options: options,
            lifetime: bounded, context: self, retainedLayer: retainedLayer,
            traits: renewals.isEmpty ? StageValues() : .renewing(renewals), manager: manager,
            start: configuration.session.isOver ? 0 : start)
        if options.landsOnce { flight.forgoProvisional() }
        FlightID.observer?(flight.id)
        return flight
    }
}
