/// The treatment of a connection that a ``ScriptedOrigin`` accepted.
///
/// The system accepts connections before a program can see them. A client therefore connects first, and then the script
/// applies; only a reset may be so fast that connecting itself fails.
public enum ScriptedConnection: Sendable {
    /// Requests are read, and responded to by the script.
    case serve
    /// The connection is closed at once, before TLS if the origin uses it.
    case close
    /// The connection is reset at once, before TLS if the origin uses it.
    case reset
    /// The connection stays open; all bytes, including a TLS handshake, are read and discarded, and nothing is sent.
    case ignore
    /// The response is sent at once (with TLS: after the handshake), before any request is read; afterwards the
    /// connection is served, unless the response ended it.
    case respond(ScriptedResponse)
}
