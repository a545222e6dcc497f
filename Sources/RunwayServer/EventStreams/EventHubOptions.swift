import RunwayFormats

/// The limits of an ``EventHub``.
///
/// The following limits are the same for every hub:
///
/// - A connection may follow at most 1,000 topics; a request for more is refused with 400. The head of a request may
///   have space for fewer topics: Hummingbird accepts 16 KiB over HTTP/2 by default.
/// - The data of an event have at most 64 bytes less than 1 MiB. Together with the field name, this is the longest line
///   that clients accept.
/// - At most 10,000 events with 64 MiB of data may be pending; ``EventHub/publish(_:)`` throws for more. A single
///   larger event is accepted if no other event is pending.
/// - A write to a client may take 60 s before the client is disconnected. A read of the log may take 10 s before the
///   connection that needs it ends.
/// - At most 100,000 members may be present through this process, counted once per topic. One owner may be present in
///   at most 1,000 topics. Further members are not published.
/// - A refusal has a `Retry-After` of at least 5 s, plus a random time of up to 5 s.
public struct EventHubOptions: Sendable, Hashable {
    /// The maximum time for a read of the log. After it, the waiting connection ends; a new connection is refused with
    /// 503 and `Retry-After`.
    static let logTimeout = Duration.seconds(10)
    /// The time for which a hub with a ``SharedEventLog`` waits for another process to report that it has the
    /// connection that a client asked about. After it, the client receives 404 and reconnects.
    static let probeTimeout = Duration.seconds(5)
    /// The minimum `Retry-After` of a refusal. A random time up to the same length is added.
    static let retryAfter = Duration.seconds(5)
    /// The maximum number of members present through this process, counted once per topic.
    static let maximumPresentCount = 100_000
    /// The maximum number of topics in which one owner is present. The owner does not join further topics.
    static let maximumPresentTopicsPerOwner = 1000

    /// The maximum time between two heartbeats on a connection. The default is 25 s, which common proxies allow.
    ///
    /// A client may request a shorter interval, down to 1 s, or a longer one, up to ``maximumHeartbeat``.
    public var heartbeat = Duration.seconds(25)
    /// The longest heartbeat interval that a client may request. The default is 25 s. Raise it if the proxies in front
    /// of the server allow more: phones then wake up less often.
    public var maximumHeartbeat = Duration.seconds(25)
    /// The maximum number of bytes queued for one client. A slower client is disconnected and reconnects with its last
    /// event id. The default is 1 MiB. Lower it for many connections and little memory.
    public var maximumQueuedByteCount = 1 << 20
    /// The maximum number of open connections. More are refused with 503 and `Retry-After`. The default is 20,000.
    /// Raise it together with the system's limit on open files.
    public var maximumConnections = 20_000
    /// The maximum number of open connections per source. More are refused with 429 and `Retry-After`. The default is
    /// 64.
    ///
    /// All connections with neither source nor owner count as one source. Raise it if many clients come through one
    /// proxy.
    public var maximumConnectionsPerSource = 64
    /// The time within which a server that is shutting down ends its connections, each at a random time. The default is
    /// 5 s. Raise it, together with the time that the server has to stop, if many clients reconnect at once.
    public var drainingTime = Duration.seconds(5)
    /// The time for which a client waits before it reconnects, in addition to its own jitter. It is sent to clients;
    /// the default, `nil`, sends no time.
    public var reconnectionTime: Duration?
    /// The time between the end of a member's last connection and the moment when the member leaves its topics; see
    /// ``EventHub/present(in:upTo:)``. The default, `nil`, publishes no presence. All processes of a ``SharedEventLog``
    /// need the same value.
    public var presenceGrace: Duration?
    /// The maximum number of presence events that this process publishes in a second, at least 1; further ones wait.
    /// The default is 100. With a ``SharedEventLog``, the maximum applies to the average of several seconds. Raise it
    /// together with the length of the log.
    ///
    /// These events take space in the log. If all connections are lost for longer than ``presenceGrace``, every member
    /// leaves every topic. At the default rate, filling a log of 10,000 events takes at least 100 s. A member that
    /// returns before its leave event is stored has not left, and causes no event.
    public var maximumPresenceEventsPerSecond = 100

    /// The time after which a write to a client ends the connection.
    package var writeTimeout = Duration.seconds(60)
    /// The maximum number of topics that a client may request for one connection.
    package var maximumTopicsPerConnection = 1000
    /// The maximum number of events that are not stored yet.
    package var maximumPendingEvents = 10_000
    /// The maximum size of the data of events that are not stored yet, in bytes. A single larger event is accepted.
    package var maximumPendingByteCount = 64 << 20
    /// The maximum size of an event's data in bytes.
    package var maximumEventByteCount = (1 << 20) - 64

    /// Creates options with the default values.
    public init() {}
}

/// The reason why an ``EventHub`` did not publish an event or refused a connection.
public struct EventHubError: Error, Hashable, CustomStringConvertible {
    private enum Code: String { case invalidEvent, tooManyPending, tooManyConnections, tooManyOfSource, draining, log }

    private let code: Code

    private init(_ code: Code) { self.code = code }

    /// The topic, type or size of the event is invalid.
    public static let invalidEvent = EventHubError(.invalidEvent)
    /// Too many events, or too many bytes, are pending.
    public static let tooManyPending = EventHubError(.tooManyPending)
    /// Too many connections are open.
    public static let tooManyConnections = EventHubError(.tooManyConnections)
    /// Too many connections of one source are open.
    public static let tooManyOfSource = EventHubError(.tooManyOfSource)
    /// The server is shutting down.
    public static let draining = EventHubError(.draining)
    /// The event log cannot be read.
    public static let log = EventHubError(.log)

    /// The error in one word. The word never changes between releases.
    public var description: String { code.rawValue }
}
