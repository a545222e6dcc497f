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

/// The reason why the client closed a link. It appears in records.
struct LinkEnd: Sendable, Equatable {
    /// The name of the reason, one word. It does not change between releases.
    var name: String
    /// A short text.
    var text: String

    /// The app ended the stream.
    static let stopped = LinkEnd(name: "stopped", text: "the app ended the stream")
    /// The app paused the stream.
    static let paused = LinkEnd(name: "paused", text: "the app paused the stream")
    /// No byte was received in time, not even after a probe.
    static let silent = LinkEnd(name: "silent", text: "nothing was received in time, not even after a probe")
    /// The server did not state how the link continues the last one.
    static let unopened = LinkEnd(name: "unopened", text: "the server did not say how the link continues the last")
    /// The network of the device changed while the link was opened.
    static let network = LinkEnd(name: "network", text: "the network changed while the link was opened")
    /// The lifetime of the link is over.
    static let lifetime = LinkEnd(name: "lifetime", text: "the lifetime of the link was over")
    /// The server ended the response.
    static let closed = LinkEnd(name: "closed", text: "the server ended the stream")
    /// The server does not know the link any more.
    static let forgotten = LinkEnd(name: "forgotten", text: "the server does not know the link any more")
    /// The link does not have the wanted topics.
    static let topics = LinkEnd(name: "topics", text: "the link did not have all topics that are wanted")
    /// The link broke.
    static func failed(_ detail: String) -> LinkEnd { LinkEnd(name: "failed", text: detail) }
}

/// The way in which an attempt to open a link, or an open link, ended by itself.
enum LinkFailure: Sendable {
    /// Another attempt may succeed.
    case transient(retryAfter: Duration?)
    /// The response is not from the server, but for example from the portal of a public Wi-Fi. A later attempt may
    /// succeed.
    case untrusted
    /// No later attempt would succeed: the error, or `nil` if the server stated that there are no more events (status
    /// 204).
    case final(NetworkError?)
    /// The system ended the app's time in the background.
    case suspended
    /// The link does not have all topics that are wanted now: another link replaces it at once.
    case superseded
}

/// The facts that are known about a link when it opens.
struct LinkFacts: Sendable, Equatable {
    /// The interval in which the server sends heartbeats; `nil` if it states none.
    var heartbeat: Duration?
    /// The longest interval that the server allows; `nil` if it states none.
    var heartbeatLimit: Duration?
    /// The time for which the server leaves the link open; `nil` if it states none.
    var lifetime: Duration?
    /// The time, on the layer's clock, from which the token that the link was opened with should be renewed until it
    /// expires; `nil` if its expiry is not known.
    var tokenRenewalWindow: Range<Duration>?
    /// Whether the server states on the link how it continues the last one, as Runway's servers do. The default is
    /// `false`.
    var statesContinuity = false
}
