/// Limits for circuit breakers: how many failures open the circuit of a host or endpoint, and for how long.
///
/// Failures to connect to a host count for the host. Failures of the server count for the endpoint at that host:
///
/// - The status of the response is 500 or more.
/// - The service reports overload.
/// - The response does not arrive in time.
/// - The connection is lost after any part of the request may have been sent.
///
/// Requests without an ``Endpoint`` count by their path instead. A call counts once, with its last attempt. In a
/// resumed upload (``UploadResumption``) each request counts, except a request whose connection was lost after at least
/// 256 KiB and before the end of its body.
///
/// A circuit opens after ``consecutiveFailures`` in a row. It also opens if half of the calls in a ``window`` failed
/// and the window has at least ``minimumOutcomes`` calls. A timeout does not count if the host had less than half of
/// ``Endpoint/deadline`` to respond, because the caller set a shorter deadline or the call waited elsewhere. A failure
/// at another host, after a redirect, does not count either.
///
/// While a circuit is open, calls fail at once: as ``NetworkError/Kind/noNetwork`` if the host can't be reached, and as
/// ``NetworkError/Kind/unavailable`` if the endpoint keeps failing. An upload that the server has partly received waits
/// instead, within its deadline. ``NetworkError/retryAfter`` states when the next call can be sent.
/// ``CallOptions/bypassesCircuit`` sends a call before that time.
///
/// After ``openTime`` one call is sent as a probe. If it succeeds, the circuit closes; otherwise the circuit stays open
/// for twice as long as before. A change of network closes all circuits. If the device has a network then, waiting
/// uploads continue.
public struct CircuitLimits: Sendable, Hashable {
    /// The number of consecutive failures that open the circuit. The default is 5; at least 1.
    public let consecutiveFailures: Int
    /// The minimum number of calls in a ``window`` before the failure rate can open the circuit. The default is 20; at
    /// least 1.
    public let minimumOutcomes: Int
    /// The length of the window in which the failure rate is measured. A window starts with its first failure; earlier
    /// calls do not count. The default is 30 s.
    public let window: Duration
    /// The time for which a circuit is open after it first opens. The default is 1 s.
    public let openTime: Duration
    /// The maximum time that a circuit is open between two probes. The default is 120 s. A `Retry-After` that is longer
    /// than the circuit's open time replaces that open time, up to this maximum.
    public let maximumOpenTime: Duration
    /// The maximum number of hosts whose failures are counted. The least recently called host is evicted first. The
    /// default is 256; at least 1. A host that does not fail is not counted.
    public let maximumHosts: Int
    /// The maximum number of endpoints whose failures are counted. The least recently called endpoint is evicted first.
    /// The default is 1,024; at least 1. An endpoint that does not fail is not counted.
    public let maximumEndpoints: Int

    /// Creates limits. The properties state the defaults. A count below its minimum is raised to the minimum.
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
