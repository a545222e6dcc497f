/// How a shutdown treats requests in flight.
public enum ShutdownMode: Sendable {
    /// Closes the connections of requests in flight immediately. The requests fail as `NetworkError.Kind.noNetwork`.
    case cutting
    /// Waits for requests in flight, up to a maximum time, and then closes the remaining connections.
    case waiting(atMost: Duration)
}
