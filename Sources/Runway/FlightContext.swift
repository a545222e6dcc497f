import Synchronization

/// What all flights of a layer use, whatever stages they pass.
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
    /// What carries records to the sinks.
    let events: EventQueue
    private let flightCount = Atomic<UInt64>(0)

    init(
        network: String, clock: LayerClock, deadlines: DeadlineTimer, randomness: LayerRandomness,
        cache: ResponseCache, cookieJars: CookieJars,
        services: ServiceConfigurations, redaction: Redaction, events: EventQueue
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
    }

    /// The number of the next call.
    func makeID() -> FlightID { FlightID(number: flightCount.wrappingAdd(1, ordering: .relaxed).newValue) }
}
