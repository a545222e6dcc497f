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
