/// What a ``ScriptedOrigin`` does with a connection that it accepted.
///
/// The system accepts connections before a program can see them. So a client connects first and meets then what is
/// scripted here; only a reset may be so fast that the client sees connecting itself fail.
public enum ScriptedConnection: Sendable {
    /// Requests are read and answered by the script.
    case serve
    /// The connection is closed at once, before TLS where there would be any.
    case close
    /// The connection is reset at once, before TLS where there would be any.
    case reset
    /// The connection stays open; what comes is read, thrown away and never answered, a TLS handshake included.
    case ignore
    /// The response is given at once (with TLS: after the handshake), before any request was read; afterwards the
    /// connection is served, unless the response ended it.
    case answer(ScriptedResponse)
}
