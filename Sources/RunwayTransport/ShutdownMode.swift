/// What becomes of requests that are under way when a transport is shut down.
public enum ShutdownMode: Sendable {
    /// They are cut at once, and fail as `NetworkError.Kind.noNetwork`.
    case cutting
    /// They are waited for, at most this long; what is left then is cut.
    case waiting(atMost: Duration)
}
