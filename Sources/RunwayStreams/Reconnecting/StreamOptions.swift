/// Options of a stream: its reconnection, the silence that a link may have, and the bytes that wait for a slow reader.
public struct StreamOptions: Sendable, Hashable {
    /// The upper bound of the first wait before a reconnection; it doubles with each failure in a row. The default is 1
    /// s.
    ///
    /// The wait is uniformly distributed between zero and the limit, even the first one, so that the clients of a
    /// restarted server do not reconnect together. A time that the server asks for, by `retry:` or `Retry-After`, is
    /// added.
    public var backoff = Duration.seconds(1)
    /// The greatest upper bound of a wait. The default is 60 s.
    public var maximumBackoff = Duration.seconds(60)
    /// The longest time of a `retry:` that is honoured; a longer one counts as this. The default is 60 s.
    public var maximumRetry = Duration.seconds(60)
    /// The longest time of a `Retry-After` that is honoured; a longer one counts as this. The default is 10 minutes.
    public var maximumRetryAfter = Duration.seconds(600)
    /// The time for which a link has to be open until earlier failures no longer lengthen the wait. The default is 10
    /// s.
    public var stableAfter = Duration.seconds(10)
    /// The shortest interval between heartbeats that the server is asked for. The default is 25 s.
    public var minimumHeartbeat = Duration.seconds(25)
    /// The longest interval that is tried on a network. The default is 50 s: a transport closes a link after 60 s
    /// without a byte, unless its configuration says otherwise.
    public var maximumHeartbeat = Duration.seconds(50)
    /// By how much a tried interval is longer than the last one that worked. The default is 5 s.
    public var heartbeatStep = Duration.seconds(5)
    /// The time by which a heartbeat may exceed its interval before the link is suspected. The default is 5 s.
    public var heartbeatMargin = Duration.seconds(5)
    /// The time for which a link may be silent before it is suspected, if the server states no interval. The default is
    /// 45 s.
    public var quietLimit = Duration.seconds(45)
    /// The time for which a suspected link may stay without a received byte before it is dropped. The default is 10 s.
    public var probeTimeout = Duration.seconds(10)
    /// The longest time for which a link stays open; then another one replaces it. The default, `nil`, sets no limit:
    /// the server's lifetime or, for an event stream, the access token ends the link.
    public var maximumLifetime: Duration?
    /// The bytes of a comment that the server is asked to begin a link with, in `Runway-Padding`; other servers ignore
    /// it. The default is 512: some URL loading systems and proxies forward nothing before they have that many.
    public var paddingByteCount = 512
    /// The shortest wait after a server was not trusted or sent a page instead of a stream, like the portal of a public
    /// Wi-Fi. A change of network ends the wait. The default is 60 s.
    public var untrustedBackoff = Duration.seconds(60)
    /// The most bytes of events that wait for a reader. Beyond that, the link is not read until the reader has taken
    /// some. The server closes a link that is too slow, and states the missing events when the stream reconnects. The
    /// default is 1 MiB.
    public var maximumBufferedByteCount = 1 << 20
    /// The sizes of lines and events.
    public var limits = EventLimits()

    /// Creates options with their defaults.
    public init() {}
}
