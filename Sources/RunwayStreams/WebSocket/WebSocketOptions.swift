import Runway

/// The settings of a WebSocket: what it offers to the server, its limits, and its reconnection.
///
/// These limits are fixed:
///
/// - At most 1 MiB of messages waits for a reader. Beyond it, the client stops reading from the connection.
/// - At most 16 MiB of messages wait to be sent. A further message fails as overloaded.
/// - The server has to complete a closing handshake within 5 s.
public struct WebSocketOptions: Sendable, Hashable {
    /// The rules of probes and reconnection; see ``StreamOptions`` for the defaults. The heartbeat interval is the
    /// interval of pings.
    public var reconnection = StreamOptions()
    /// The offered subprotocols, the preferred one first. The default is empty.
    public var subprotocols: [String] = []
    /// Whether the client offers to compress messages (RFC 7692). The default is `true`.
    public var compresses = true
    /// Whether each message is compressed independently, in both directions. This needs less memory, but compresses
    /// less. The default is `false`. Turn it on to save memory, or if some messages contain secrets and others contain
    /// text from strangers.
    public var compressesMessagesAlone = false
    /// The maximum size of a received message after decompression, in bytes. A larger message ends the WebSocket with
    /// ``WebSocketCloseCode/messageTooLarge``. The default is 16 MiB. Lower it if messages are small.
    public var maximumMessageByteCount = 16 << 20
    /// The close codes after which the WebSocket reconnects. By default these are the codes of a server that will be
    /// available again: 1001 and 1011 to 1014. The WebSocket also reconnects after a close frame without a code, and
    /// after a lost connection.
    public var reconnectingCodes: Set<WebSocketCloseCode> = [
        .goingAway, .serverError, .serviceRestart, .tryAgainLater, .badGateway,
    ]

    /// Creates options with their default values.
    public init() {}

    var offer: WebSocketOffer {
        var offer = WebSocketOffer()
        offer.subprotocols = subprotocols
        if compresses {
            var deflate = WebSocketOffer.Deflate()
            deflate.resetsServerContext = compressesMessagesAlone
            deflate.resetsClientContext = compressesMessagesAlone
            offer.deflate = deflate
        } else {
            offer.deflate = nil
        }
        offer.maximumMessageByteCount = maximumMessageByteCount
        return offer
    }
}
