/// How a stream reconnects, how long a link may be silent, and how much waits for a slow reader.
public struct StreamOptions: Sendable, Hashable {
    /// The upper bound of the first wait before a reconnection; it doubles with each failure in a row. The default is 1
    /// s.
    ///
    /// The wait is uniformly distributed between zero and the bound, the first one too, so that the clients of a server
    /// that restarts do not come back together. What the server asks for, by `retry:` or `Retry-After`, is added to it.
    public var backoff = Duration.seconds(1)
    /// The greatest upper bound of a wait. The default is 60 s.
    public var maximumBackoff = Duration.seconds(60)
    /// The longest time of a `retry:` that is honoured; a longer one counts as this. The default is 60 s.
    public var maximumRetry = Duration.seconds(60)
    /// The longest time of a `Retry-After` that is honoured; a longer one counts as this. The default is 10 minutes.
    public var maximumRetryAfter = Duration.seconds(600)
    /// How long a link has to be open until earlier failures no longer lengthen the wait. The default is 10 s.
    public var stableAfter = Duration.seconds(10)
    /// The shortest interval between heartbeats that the server is asked for. The default is 25 s.
    public var minimumHeartbeat = Duration.seconds(25)
    /// The longest interval that is tried on a network. The default is 50 s: a transport closes a link after 60 s
    /// without a byte, unless its configuration says otherwise.
    public var maximumHeartbeat = Duration.seconds(50)
    /// By how much a tried interval is longer than the last one that worked. The default is 5 s.
    public var heartbeatStep = Duration.seconds(5)
    /// How much later than the interval a heartbeat may come before the link is suspected. The default is 5 s.
    public var heartbeatMargin = Duration.seconds(5)
    /// How long a link of a server that states no interval may be silent before it is suspected. The default is 45 s.
    public var quietLimit = Duration.seconds(45)
    /// How long a suspected link may stay without a received byte before it is dropped. The default is 10 s.
    public var probeTimeout = Duration.seconds(10)
    /// How long a link stays open at most; then another one replaces it. The default, `nil`, sets no limit: the
    /// server's lifetime or, for an event stream, the access token ends the link.
    public var maximumLifetime: Duration?
    /// How many bytes of a comment the server is asked to begin a link with, in `Runway-Padding`; other servers ignore
    /// it. The default is 512: some URL loading systems and proxies pass nothing on before they have that many.
    public var paddingByteCount = 512
    /// How long a stream waits, at least, after a server was not trusted or sent a page instead of a stream, as the
    /// portal of a public Wi-Fi does. A change of network ends the wait. The default is 60 s.
    public var untrustedBackoff = Duration.seconds(60)
    /// How many bytes of events wait for a reader. If there are more, nothing is read from the link until the reader
    /// has taken some: the server cuts a link that is too slow, and says what is missing when it is resumed. The
    /// default is 1 MiB.
    public var maximumBufferedByteCount = 1 << 20
    /// The sizes of lines and events.
    public var limits = EventLimits()

    /// Creates options with their defaults.
    public init() {}
}
