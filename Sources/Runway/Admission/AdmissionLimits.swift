/// How much a layer lets out at once, and what it keeps from going out at all.
///
/// None of it stands in the way of what memory holds, nor of a call that joins another one's flight.
public struct AdmissionLimits: Sendable, Hashable {
    /// The most calls in the air at once. The default is 64; at least 1. A call is in the air until its answer is in, or, where that is
    /// read as a stream, until the stream ends or is let go.
    ///
    /// While it waits for an access token it is not in the air, so that a service whose tokens can't be had holds up no other. While it
    /// waits for another attempt it is: of such calls there are no more than the budget of their host allows (``RetryLimits``), and who
    /// has waited already does not stand in line again.
    public let maximumFlights: Int
    /// The most calls that wait for a concurrency slot; further ones fail as ``NetworkError/Kind/overloaded``. The default is 1000.
    ///
    /// The turn is the highest priority's, and in a priority whoever came first; but every fourth turn is that of the call that has
    /// waited longest, so that none waits for ever.
    public let maximumWaiting: Int
    /// The most calls that wait for a network; further ones fail as ``NetworkError/Kind/noNetwork``. The default is 1000.
    public let maximumWaitingForNetwork: Int
    /// The most times that one request is let out in a window of ``floodWindow``; further ones fail as
    /// ``NetworkError/Kind/overloaded``, since that many are the work of a loop that has no end. The default is 100; `nil` is no
    /// limit.
    ///
    /// Requests are the same where endpoint, account, method, URL, `Range` and body are. A body that is a stream or has more than
    /// 64 KiB is not compared, and such requests are not counted. Of at most 4096 different requests in a window the times are
    /// known; past that counting begins anew.
    public let maximumIdenticalRequests: Int?
    /// The time in which identical requests are counted. The default is 10 s.
    public let floodWindow: Duration
    /// When a host that keeps failing is left alone. The default is `CircuitLimits()`; `nil` is never.
    public let circuitBreaker: CircuitLimits?

    /// Everything is let out at once.
    public static let none = AdmissionLimits(
        maximumFlights: .max, maximumIdenticalRequests: nil, circuitBreaker: nil)

    /// Makes limits; see the properties for the defaults. Counts below their least are that.
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

/// When the circuit to a host that keeps failing is opened, and for how long (the circuit breaker).
///
/// A failure is one that the host causes: no connection, a lost connection, no response in time, a status of 500 or more, or a
/// service that says it is overloaded. A call counts once, with the last of its attempts. The circuit opens after
/// ``consecutiveFailures`` in a row, or when half of at least ``minimumOutcomes`` calls in a ``window`` failed. A call that times out
/// does not count if the host had less than half of ``Endpoint/deadline`` to respond, because the caller set a shorter deadline or the
/// call waited elsewhere. A failure at another host, after a redirect, does not count either. While the circuit is open, it lets no
/// call to the host pass: they fail at once as ``NetworkError/Kind/overloaded``. After ``openTime`` one call is let through to see;
/// if it succeeds the circuit is closed, if not it stays open for twice as long as before. A change of network closes all circuits.
public struct CircuitLimits: Sendable, Hashable {
    /// How many failures in a row open the circuit. The default is 5; at least 1.
    public let consecutiveFailures: Int
    /// How many calls in a window it takes for their share of failures to count. The default is 20; at least 1.
    public let minimumOutcomes: Int
    /// The time in which the share of failures is counted, from the first of them on. The default is 30 s.
    public let window: Duration
    /// How long the circuit is open at first. The default is 5 s.
    public let openTime: Duration
    /// The longest time that it is open without another look. The default is 120 s. A longer `Retry-After` than ``openTime`` counts, up
    /// to this.
    public let maximumOpenTime: Duration
    /// The most hosts whose failures are kept; those of the host that was not called for longest are forgotten. The default is 256; at
    /// least 1. A host that does not fail takes no room.
    public let maximumHosts: Int

    /// Makes limits; see the properties for the defaults. Counts below their least are that.
    public init(
        consecutiveFailures: Int = 5, minimumOutcomes: Int = 20, window: Duration = .seconds(30),
        openTime: Duration = .seconds(5), maximumOpenTime: Duration = .seconds(120), maximumHosts: Int = 256
    ) {
        self.consecutiveFailures = max(1, consecutiveFailures)
        self.minimumOutcomes = max(1, minimumOutcomes)
        self.window = window
        self.openTime = max(.zero, openTime)
        self.maximumOpenTime = max(self.openTime, maximumOpenTime)
        self.maximumHosts = max(1, maximumHosts)
    }
}
