/// Where requests of a service may go without TLS, by redirects too.
public enum PlainHTTPPolicy: Sendable, Equatable {
    /// To this machine itself: `localhost` and hosts below it (RFC 6761 §6.3), 127.0.0.0/8 and ::1.
    case loopbackOnly
    /// To any host. Everyone on the path can read and change what is sent.
    case allowed
}
