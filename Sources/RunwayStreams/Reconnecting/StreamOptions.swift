/// The settings of a stream: reconnection, the silence of a connection, and the bytes that may wait for a reader.
///
/// These rules are fixed:
///
/// - A `retry:` of the server counts as at most 60 s, and a `Retry-After` as at most 10 minutes. After a connection was
///   open for 10 s, earlier failures no longer lengthen the backoff.
/// - The client first asks for heartbeats every 25 s. Each interval that works makes the next one 5 s longer. If a
///   heartbeat is more than 5 s late, the client suspects that the connection is dead.
/// - If a server is not trusted, or sends a web page instead of a stream, like the login portal of a public Wi-Fi, the
///   stream waits for at least 60 s. A change of network ends the wait.
/// - A line has at most 1 MiB. The type and data of an event have at most 4 MiB.
/// - The client asks the server to start with a comment of 512 bytes (`Runway-Padding`), since some URL loading systems
///   and proxies buffer fewer bytes. Other servers ignore the field.
public struct StreamOptions: Sendable, Hashable {
    /// The maximum delay that a server's `retry:` can cause.
    static let maximumRetry = Duration.seconds(60)
    /// The maximum delay that a `Retry-After` can cause.
    static let maximumRetryAfter = Duration.seconds(600)
    /// The time after which an open connection resets the backoff.
    static let stableAfter = Duration.seconds(10)
    /// The shortest heartbeat interval that the client asks for.
    static let minimumHeartbeat = Duration.seconds(25)
    /// The difference between a tried interval and the last one that worked.
    static let heartbeatStep = Duration.seconds(5)
    /// The maximum delay of a heartbeat before the client suspects that the connection is dead.
    static let heartbeatMargin = Duration.seconds(5)
    /// The size of the comment that the server should send first, in bytes.
    static let paddingByteCount = 512

    /// The maximum delay before the first reconnection. It doubles with each failure in a row. The default is 1 s.
    /// Raise it for streams that need not be up to date.
    ///
    /// Each delay is random between zero and the current maximum, so that the clients of a restarted server do not
    /// reconnect together. A time that the server asks for, by `retry:` or `Retry-After`, is added.
    public var backoff = Duration.seconds(1)
    /// The maximum delay before a reconnection after repeated failures. The default is 60 s. Lower it to find a
    /// returned server sooner.
    public var maximumBackoff = Duration.seconds(60)
    /// The longest heartbeat interval that the client tries on a network. The default is 50 s, since a transport closes
    /// a connection after 60 s without a byte by default. Raise it together with that time.
    public var maximumHeartbeat = Duration.seconds(50)
    /// The silence after which the client suspects that a connection is dead, if the server sends no heartbeats. The
    /// default is 45 s. Raise it for a server that sends comments less often.
    public var quietLimit = Duration.seconds(45)
    /// The time within which a connection that may be dead has to receive a byte before it is dropped. The default is
    /// 10 s. Raise it for slow networks.
    public var probeTimeout = Duration.seconds(10)
    /// The maximum time for which a connection stays open. Then another one replaces it. The default, `nil`, sets no
    /// limit. The lifetime that the server reports, and for an event stream the access token, end the connection in any
    /// case. Set it if a proxy cuts long responses.
    public var maximumLifetime: Duration?
    /// The maximum size of the events that wait for a reader, in bytes. At this limit, the client stops reading from
    /// the connection until the reader has taken some. A server closes a connection that is too slow, and reports the
    /// missed events when the stream reconnects. The default is 1 MiB. Raise it for bursts of large events.
    public var maximumBufferedByteCount = 1 << 20

    /// The minimum delay after a server was not trusted, or sent a web page instead of a stream.
    package var untrustedBackoff = Duration.seconds(60)
    var limits = EventLimits()

    /// Creates options with their default values.
    public init() {}
}
