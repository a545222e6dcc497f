/// Options of a stream: its reconnection, the silence that a link may have, and the bytes that wait for a slow reader.
///
/// These are the same for every stream:
///
/// - A `retry:` counts as at most 60 s, a `Retry-After` as at most 10 minutes. A link that was open for 10 s ends the
///   lengthening of the waits by earlier failures.
/// - The first interval between heartbeats that a server is asked for is 25 s; each that works makes the next one 5 s
///   longer. A heartbeat may be 5 s late before the link is suspected.
/// - After a server was not trusted, or sent a page instead of a stream, as the portal of a public Wi-Fi does, a stream
///   waits for at least 60 s. A change of network ends the wait.
/// - A line has at most 1 MiB, the type and data of an event have 4 MiB.
/// - The server is asked to begin a link with a comment of 512 bytes (`Runway-Padding`; other servers ignore it): some
///   URL loading systems and proxies pass nothing on before they have that many.
public struct StreamOptions: Sendable, Hashable {
    /// The longest time of a `retry:` that is honoured; a longer one counts as this.
    static let maximumRetry = Duration.seconds(60)
    /// The longest time of a `Retry-After` that is honoured; a longer one counts as this.
    static let maximumRetryAfter = Duration.seconds(600)
    /// The time for which a link has to be open until earlier failures no longer lengthen the wait.
    static let stableAfter = Duration.seconds(10)
    /// The shortest interval between heartbeats that the server is asked for.
    static let minimumHeartbeat = Duration.seconds(25)
    /// The time by which a tried interval is longer than the last one that worked.
    static let heartbeatStep = Duration.seconds(5)
    /// The time by which a heartbeat may be late before the link is suspected.
    static let heartbeatMargin = Duration.seconds(5)
    /// The bytes of a comment with which the server is asked to begin a link.
    static let paddingByteCount = 512

    /// The upper bound of the first wait before a reconnection; it doubles with each failure in a row. The default is 1
    /// s. Raise it for streams that need not be up to date.
    ///
    /// The wait is uniformly distributed between zero and the limit, even the first one, so that the clients of a
    /// restarted server do not reconnect together. A time that the server asks for, by `retry:` or `Retry-After`, is
    /// added.
    public var backoff = Duration.seconds(1)
    /// The greatest upper bound of a wait. The default is 60 s. Lower it if a server that is back should be found
    /// sooner.
    public var maximumBackoff = Duration.seconds(60)
    /// The longest interval between heartbeats that is tried on a network. The default is 50 s: a transport closes a
    /// link after 60 s without a byte, unless its configuration says otherwise. Raise it with that time.
    public var maximumHeartbeat = Duration.seconds(50)
    /// The silence after which a link of a server that states no interval is suspected. The default is 45 s. Raise it
    /// for a server that sends a comment less often.
    public var quietLimit = Duration.seconds(45)
    /// The time that a suspected link may stay without a received byte before it is dropped. The default is 10 s. Raise
    /// it for networks that are slow to respond.
    public var probeTimeout = Duration.seconds(10)
    /// The longest time that a link stays open; then another one replaces it. The default, `nil`, sets no limit: the
    /// server's lifetime or, for an event stream, the access token ends the link. Set it if a proxy cuts long
    /// responses.
    public var maximumLifetime: Duration?
    /// The most bytes of events that wait for a reader. Beyond that, the link is not read until the reader has taken
    /// some. The server closes a link that is too slow, and states the missing events when the stream reconnects. The
    /// default is 1 MiB. Raise it for bursts of large events.
    public var maximumBufferedByteCount = 1 << 20

    /// The shortest wait after a server was not trusted or sent a page instead of a stream.
    package var untrustedBackoff = Duration.seconds(60)
    /// The sizes of lines and events.
    var limits = EventLimits()

    /// Creates options with their defaults.
    public init() {}
}
