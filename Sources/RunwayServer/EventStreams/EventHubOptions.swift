import RunwayFormats

/// The bounds of an ``EventHub``.
///
/// These are the same for every hub:
///
/// - A client asks for at most 1,000 topics on one connection; more are refused with 400. Fewer may fit into the head
///   of its request: over HTTP/2 Hummingbird takes 16 KiB by default.
/// - An event has at most 1 MiB less 64 bytes of data, which with its field name is the longest line that clients take.
/// - At most 10,000 events with 64 MiB of data wait to be stored; ``EventHub/publish(_:)`` throws for more. One event
///   with more data may wait if no other does.
/// - A write to a client takes at most 60 s before the client is cut, a read of the log at most 10 s before the
///   connection that needs it ends.
/// - At most 100,000 members are present by connections to this process, counted once for each topic, and one owner in
///   at most 1,000 topics; further members are not published.
/// - A refusal has a `Retry-After` of at least 5 s; as much again is added at random.
public struct EventHubOptions: Sendable, Hashable {
    /// The time after which a read of the log ends the connection that needs it. A connection that is being opened is
    /// refused with 503 and `Retry-After`.
    static let logTimeout = Duration.seconds(10)
    /// The time for which a hub over a ``SharedEventLog`` waits for another process to report that it has the
    /// connection that a client probes. After that the client receives 404, and reconnects.
    static let probeTimeout = Duration.seconds(5)
    /// The least `Retry-After` of a refusal; as much again is added at random.
    static let retryAfter = Duration.seconds(5)
    /// The most members that are present by connections to this process, counted once for each topic.
    static let maximumPresentCount = 100_000
    /// The most topics in which one owner is present; the owner does not join further topics.
    static let maximumPresentTopicsPerOwner = 1000

    /// The longest time between two heartbeats on a connection. The default is 25 s, which proxies allow by default.
    ///
    /// A client may ask for less, of at least 1 s, or for more, up to ``maximumHeartbeat``.
    public var heartbeat = Duration.seconds(25)
    /// The longest interval that a client may ask for. The default is 25 s. Raise it if the proxies before the server
    /// allow more: phones then wake up less often.
    public var maximumHeartbeat = Duration.seconds(25)
    /// The most bytes that wait for one client. A slower client is disconnected, and reconnects with its last id. The
    /// default is 1 MiB. Lower it for many connections and little memory.
    public var maximumQueuedByteCount = 1 << 20
    /// The most open connections. More are refused with 503 and `Retry-After`. The default is 20,000. Raise it with the
    /// system's limit of open files.
    public var maximumConnections = 20_000
    /// The most open connections of one source. More are refused with 429 and `Retry-After`. The default is 64. All
    /// connections without a known source and owner count as one source. Raise it if many clients come through one
    /// proxy.
    public var maximumConnectionsPerSource = 64
    /// The time in which the connections of a server that shuts down are ended, each at a random moment. The default is
    /// 5 s. Raise it, with the time that the server has to stop, if many clients reconnect at once.
    public var drainingTime = Duration.seconds(5)
    /// The time for which a client waits before it reconnects, in addition to its own jitter. The default, `nil`,
    /// states none.
    public var reconnectionTime: Duration?
    /// The time after its last connection at which a member leaves a topic; see ``EventHub/present(in:upTo:)``. The
    /// default, `nil`, publishes no presence. All processes of a ``SharedEventLog`` need the same value.
    public var presenceGrace: Duration?
    /// The most events about present members that this process publishes in a second; further ones wait. At least 1;
    /// the default is 100. With a ``SharedEventLog`` it is the average of several seconds. Raise it with the length of
    /// the log.
    ///
    /// These events take room in the log. Where all connections are lost for longer than ``presenceGrace``, every
    /// member leaves every topic. At the default rate, it takes at least 100 s to fill a log of 10,000 events. A member
    /// that returns before the event was stored has not left, and causes none.
    public var maximumPresenceEventsPerSecond = 100

    /// The time after which a write to a client ends the connection.
    package var writeTimeout = Duration.seconds(60)
    /// The most topics that a client may ask for on one connection.
    package var maximumTopicsPerConnection = 1000
    /// The most events that wait to be stored.
    package var maximumPendingEvents = 10_000
    /// The most bytes of the data of events that wait to be stored, unless only one waits.
    package var maximumPendingByteCount = 64 << 20
    /// The largest event, in bytes of its data.
    package var maximumEventByteCount = (1 << 20) - 64

    /// Creates options with their defaults.
    public init() {}
}

/// The reason why an ``EventHub`` does not publish an event, or refuses a connection.
public struct EventHubError: Error, Hashable, CustomStringConvertible {
    private enum Code: String { case invalidEvent, tooManyPending, tooManyConnections, tooManyOfSource, draining, log }

    private let code: Code

    private init(_ code: Code) { self.code = code }

    /// The topic, the type or the size of the event is not allowed.
    public static let invalidEvent = EventHubError(.invalidEvent)
    /// Too many events, or too many bytes of them, wait to be stored.
    public static let tooManyPending = EventHubError(.tooManyPending)
    /// Too many connections are open.
    public static let tooManyConnections = EventHubError(.tooManyConnections)
    /// Too many connections of one source are open.
    public static let tooManyOfSource = EventHubError(.tooManyOfSource)
    /// The server shuts down.
    public static let draining = EventHubError(.draining)
    /// The log of events can't be read now.
    public static let log = EventHubError(.log)

    /// The error in one word, which stays the same from release to release.
    public var description: String { code.rawValue }
}
