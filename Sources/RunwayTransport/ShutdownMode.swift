/// The treatment of requests in flight when a transport is shut down.
public enum ShutdownMode: Sendable {
    /// The connections of requests in flight are closed at once; the requests fail as `NetworkError.Kind.noNetwork`.
    case cutting
    /// The shutdown waits at most this long for requests in flight, and then closes the remaining connections at once.
    case waiting(atMost: Duration)
}
