import Runway

/// The offer of a WebSocket to the server, its limits, and its reconnection.
///
/// 1 MiB of messages waits for a reader; beyond that, the connection is not read until the reader has taken some. 16
/// MiB wait to be sent; a further message fails as overloaded. The server has to complete a closing handshake within 5
/// s.
public struct WebSocketOptions: Sendable, Hashable {
    /// Probes and reconnection. See ``StreamOptions`` for the defaults. Its heartbeat is the interval of pings.
    public var reconnection = StreamOptions()
    /// The subprotocols that are offered, the preferred one first. The default is empty.
    public var subprotocols: [String] = []
    /// Whether compression of messages is offered (RFC 7692). The default is `true`.
    public var compresses = true
    /// Whether each message is compressed independently, in both directions, which takes less memory and compresses
    /// less. The default is `false`. Turn it on to save memory, or if some messages hold secrets and others text that
    /// strangers choose.
    public var compressesMessagesAlone = false
    /// The most bytes of a received message, after decompression. A larger message ends the WebSocket with
    /// ``WebSocketCloseCode/messageTooLarge``. The default is 16 MiB. Lower it where messages are small.
    public var maximumMessageByteCount = 16 << 20
    /// The close codes after which the WebSocket reconnects. The default has the codes by which a server announces that
    /// it will be available again: 1001 and 1011 to 1014. The WebSocket also reconnects after a close frame without a
    /// code, and after a loss.
    public var reconnectingCodes: Set<WebSocketCloseCode> = [
        .goingAway, .serverError, .serviceRestart, .tryAgainLater, .badGateway,
    ]

    /// Creates options with their defaults.
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
