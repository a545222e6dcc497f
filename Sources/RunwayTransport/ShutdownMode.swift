/// What happens to requests in flight when a transport is shut down.
public enum ShutdownMode: Sendable {
    /// Their connections are closed at once, and they fail as `NetworkError.Kind.noNetwork`.
    case cutting
    /// The shutdown waits for them at most this long, and then closes the connections of the rest at once.
    case waiting(atMost: Duration)
}
