/// Limits for the calls that a layer sends at the same time, and rules for calls that it refuses to send.
///
/// The limits do not apply to responses from the cache, nor to calls that share the request of another one.
public struct AdmissionLimits: Sendable, Hashable {
    /// The most calls that hold a concurrency slot at once. The default is 64; at least 1. A call holds its slot until
    /// its response is complete, or, if the body is read as a stream, until the stream ends or is discarded.
    ///
    /// A call that waits for an access token holds no slot, so that a service whose tokens are unavailable blocks no
    /// other service. A call that waits for its next attempt keeps its slot: the budget of its host limits the number
    /// of such calls (``LayerLimits/retrying``), and a call that has waited once does not wait a second time.
    public let maximumFlights: Int
    /// The most calls that wait for a concurrency slot; further ones fail as ``NetworkError/Kind/overloaded``. The
    /// default is 1000.
    ///
    /// The slot goes to the highest priority, and within a priority to the call that arrived first. Every fourth slot
    /// goes to the call that has waited longest, so that none waits for ever.
    public let maximumWaiting: Int
    /// The most calls that wait for a network; further ones fail as ``NetworkError/Kind/noNetwork``. The default is
    /// 1000.
    public let maximumWaitingForNetwork: Int
    /// The most times that one request is sent in a window of ``floodWindow``; further ones fail as
    /// ``NetworkError/Kind/overloaded``, since only an endless loop sends that many. The default is 100; `nil` sets no
    /// limit.
    ///
    /// Requests are identical if endpoint, account, method, URL, `Range` and body are equal. Requests whose body is a
    /// stream or has more than 64 KiB are not counted. At most 4,096 different requests are counted in a window; beyond
    /// that, counting starts again.
    public let maximumIdenticalRequests: Int?
    /// The time in which identical requests are counted. The default is 10 s.
    public let floodWindow: Duration
    /// Limits for the circuits of failing hosts and endpoints. The default is `CircuitLimits()`; `nil` has no circuits.
    public let circuitBreaker: CircuitLimits?

    /// Limits that admit every call at once.
    public static let none = AdmissionLimits(
        maximumFlights: .max, maximumIdenticalRequests: nil, circuitBreaker: nil)

    /// Bounds the calls in flight; see the properties for the defaults. Smaller counts than the least are raised to it.
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
