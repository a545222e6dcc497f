/// Limits for the calls that a layer sends at the same time, and rules for calls that the layer refuses to send.
///
/// The limits do not apply to responses from the cache, nor to calls that share the request of another call.
public struct AdmissionLimits: Sendable, Hashable {
    /// The maximum number of calls that hold a concurrency slot at once. The default is 64; at least 1. A call holds
    /// its slot until its response is complete. If the body is read as a stream, the slot is held until the stream ends
    /// or is discarded.
    ///
    /// A call that waits for an access token holds no slot, so a service whose tokens are unavailable does not block
    /// other services. A call that waits for its next attempt holds its slot. It therefore need not wait for a slot
    /// again. The retry budget of the host limits the number of such calls (``LayerLimits/retrying``).
    public let maximumFlights: Int
    /// The maximum number of calls that wait for a concurrency slot. Further calls fail as
    /// ``NetworkError/Kind/overloaded``. The default is 1000.
    ///
    /// A free slot goes to the waiter with the highest priority; among equal priorities, to the call that arrived
    /// first. Every fourth slot goes to the call that has waited longest, so no call waits for ever.
    public let maximumWaiting: Int
    /// The maximum number of calls that wait for a network. Further calls fail as ``NetworkError/Kind/noNetwork``. The
    /// default is 1000.
    public let maximumWaitingForNetwork: Int
    /// The maximum number of identical requests within one ``floodWindow``. Further ones fail as
    /// ``NetworkError/Kind/overloaded``, since only an endless loop sends that many. The default is 100; `nil` sets no
    /// limit.
    ///
    /// Requests are identical if endpoint, account, method, URL, `Range` and body are equal. Requests are not counted
    /// if their body is a stream or larger than 64 KiB. At most 4,096 different requests are counted in a window;
    /// beyond that, all counts start again.
    public let maximumIdenticalRequests: Int?
    /// The length of the window in which identical requests are counted. The default is 10 s.
    public let floodWindow: Duration
    /// Limits for the circuit breakers of failing hosts and endpoints. The default is `CircuitLimits()`; `nil` turns
    /// circuit breakers off.
    public let circuitBreaker: CircuitLimits?

    /// Limits that admit every call at once.
    public static let none = AdmissionLimits(
        maximumFlights: .max, maximumIdenticalRequests: nil, circuitBreaker: nil)

    /// Creates limits. The properties state the defaults. A count below its minimum is raised to the minimum.
    public init(
        maximumFlights: Int = 64, maximumWaiting: Int = 1000, maximumWaitingForNetwork: Int = 1000,
        maximumIdenticalRequests: Int? = 100, floodWindow: Duration = .seconds(10),
        circuitBreaker: CircuitLimits? = CircuitLimits()
    ) {
        self.maximumFlights = max(1, maximumFlights)
        self.maximumWaiting = max(0, maximumWaiting)
        self.maximumWaitingForNetwork = max(0, maximumWaitingForNetwork)
        self.maximumIdenticalRequests = maximumIdenticalRequests.map { max(1, $0) }
        self.floodWindow = floodWindow
        self.circuitBreaker = circuitBreaker
    }
}
