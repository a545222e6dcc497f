import Runway

/// The state of a stream. A switch needs a `default`, since later versions may add states.
public enum StreamState: Sendable, Hashable {
    /// The stream has not been started.
    case idle
    /// The stream is being opened.
    case connecting
    /// The stream is open: events can arrive.
    case open
    /// The stream waits before it opens again.
    case waiting
    /// The stream waits until the device has a network.
    case offline
    /// The stream is paused until it is resumed.
    case paused
    /// The stream has ended. It can be started again.
    case ended
}

/// The reason why the client closed a connection. It appears in records.
struct LinkEnd: Sendable, Equatable {
    /// The name of the reason, one word. It does not change between releases.
    var name: String
    var text: String

    static let stopped = LinkEnd(name: "stopped", text: "the app ended the stream")
    static let paused = LinkEnd(name: "paused", text: "the app paused the stream")
    /// No byte arrived in time, not even after a probe.
    static let silent = LinkEnd(name: "silent", text: "nothing was received in time, not even after a probe")
    /// The server did not report how the connection continues the previous one.
    static let unopened = LinkEnd(name: "unopened", text: "the server did not say how the link continues the last")
    /// The network of the device changed while the connection was opening.
    static let network = LinkEnd(name: "network", text: "the network changed while the link was opened")
    /// The lifetime of the connection has ended.
    static let lifetime = LinkEnd(name: "lifetime", text: "the lifetime of the link was over")
    /// The server ended the response.
    static let closed = LinkEnd(name: "closed", text: "the server ended the stream")
    /// The server no longer knows the connection.
    static let forgotten = LinkEnd(name: "forgotten", text: "the server does not know the link any more")
    /// The connection does not include all wanted topics.
    static let topics = LinkEnd(name: "topics", text: "the link did not have all topics that are wanted")
    /// The connection broke before the end of the response.
    static func failed(_ detail: String) -> LinkEnd { LinkEnd(name: "failed", text: detail) }
}

/// How a connection, or an attempt to open one, ended without the client closing it.
enum LinkFailure: Sendable {
    case transient(retryAfter: Duration?)
    /// Another machine responded instead of the server, such as the login portal of a public Wi-Fi. A retry may
    /// succeed.
    case untrusted
    /// No later attempt can succeed. The error is `nil` if the server has no more events (status 204).
    case final(NetworkError?)
    /// The system ended the app's background time.
    case suspended
    /// The connection does not include all wanted topics. Another connection replaces it at once.
    case superseded
}

/// The properties of a connection that are known when it opens.
struct LinkFacts: Sendable, Equatable {
    /// The interval of the server's heartbeats; `nil` if the server names none.
    var heartbeat: Duration?
    /// The longest heartbeat interval that the server allows; `nil` if the server names none.
    var heartbeatLimit: Duration?
    /// The time after which the server ends the connection; `nil` if the server names none.
    var lifetime: Duration?
    /// The time range in which the connection's token should be renewed, on the layer's clock: from the recommended
    /// renewal to the expiry. `nil` if the expiry is unknown.
    var tokenRenewalWindow: Range<Duration>?
    /// Whether the server reports how the connection continues the previous one, as Runway servers do. The default is
    /// `false`.
    var statesContinuity = false
}
