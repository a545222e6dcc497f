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

/// Limits for the failures that open the circuit of a host or endpoint, and for its open time (circuit breaker).
///
/// Failures to connect to a host count by host. Failures of the server count by endpoint at its host: a status of 500
/// or more, a service that reports overload, no response in time, and a connection that was lost after any of the
/// request may have been sent. Requests that no ``Endpoint`` describes count by their path instead. A call counts once,
/// with the last of its attempts; of an upload that continues (``UploadResumption``) each request counts, except one
/// whose connection was lost after at least 256 KiB and before the end of its body. A circuit opens after
/// ``consecutiveFailures`` in a row, or when half of at least ``minimumOutcomes`` calls in a ``window`` failed. A call
/// that times out does not count if the host had less than half of ``Endpoint/deadline`` to respond, because the caller
/// set a shorter deadline or the call waited elsewhere. A failure at another host, after a redirect, does not count
/// either.
///
/// While a circuit is open, calls fail at once: as ``NetworkError/Kind/noNetwork`` if the host can't be reached, and as
/// ``NetworkError/Kind/unavailable`` if the endpoint keeps failing. An upload that the server has in part waits
/// instead, within its deadline. ``NetworkError/retryAfter`` states when the next call can be sent, and
/// ``CallOptions/bypassesCircuit`` sends one before.
///
/// After ``openTime`` one call is sent as a probe: if it succeeds the circuit is closed, otherwise it stays open for
/// twice as long as before. A change of network closes all circuits. If the device has a network then, uploads that
/// waited continue.
public struct CircuitLimits: Sendable, Hashable {
    /// The number of consecutive failures that open the circuit. The default is 5; at least 1.
    public let consecutiveFailures: Int
    /// The number of calls in a window at which their failure rate starts to count. The default is 20; at least 1.
    public let minimumOutcomes: Int
    /// The time in which the share of failures is counted, from the first of them on. The default is 30 s.
    public let window: Duration
    /// The time for which the circuit is open at first. The default is 1 s.
    public let openTime: Duration
    /// The longest time that it is open without another probe. The default is 120 s. A longer `Retry-After` than
    /// ``openTime`` counts, up to this.
    public let maximumOpenTime: Duration
    /// The most hosts whose failures are counted; the least recently called host is removed first. The default is 256;
    /// at least
    /// 1. A host that does not fail occupies nothing.
    public let maximumHosts: Int
    /// The most endpoints whose failures are counted; the least recently called one is removed first. The default is
    /// 1,024; at least 1. An endpoint that does not fail occupies nothing.
    public let maximumEndpoints: Int

    /// Bounds when a circuit opens, and for how long; see the properties for the defaults. Smaller counts than the
    /// least are raised to it.
    public init(
        consecutiveFailures: Int = 5, minimumOutcomes: Int = 20, window: Duration = .seconds(30),
        openTime: Duration = .seconds(1), maximumOpenTime: Duration = .seconds(120), maximumHosts: Int = 256,
        maximumEndpoints: Int = 1024
    ) {
        self.consecutiveFailures = max(1, consecutiveFailures)
        self.minimumOutcomes = max(1, minimumOutcomes)
        self.window = window
        self.openTime = max(.zero, openTime)
        self.maximumOpenTime = max(self.openTime, maximumOpenTime)
        self.maximumHosts = max(1, maximumHosts)
        self.maximumEndpoints = max(1, maximumEndpoints)
    }
}
