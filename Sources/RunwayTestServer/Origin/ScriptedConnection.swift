/// How a ``ScriptedOrigin`` treats an accepted connection.
///
/// The system accepts connections before a program sees them. So a client connects successfully before the script
/// applies. Only a reset may be so fast that connecting fails.
public enum ScriptedConnection: Sendable {
    /// Requests are read, and the script responds to them.
    case serve
    /// The connection is closed at once, before a TLS handshake.
    case close
    /// The connection is reset at once, before a TLS handshake.
    case reset
    /// The connection stays open. All received bytes, including a TLS handshake, are discarded, and nothing is sent.
    case ignore
    /// The associated response is sent before any request is read, after a TLS handshake if there is one. Then requests
    /// are served, unless the response ended the connection.
    case respond(ScriptedResponse)
}
