import Runway

/// What a WebSocket offers the server, its limits, and how it reconnects.
public struct WebSocketOptions: Sendable, Hashable {
    /// How the connection is probed and made again. See ``StreamOptions`` for the defaults. Its heartbeat is the
    /// interval of pings.
    public var reconnection = StreamOptions()
    /// The subprotocols that are offered, the preferred one first. The default is empty.
    public var subprotocols: [String] = []
    /// Whether compression of messages is offered (RFC 7692). The default is `true`.
    public var compresses = true
    /// Whether each message is compressed by itself, in either direction, which takes less memory and compresses less.
    /// The default is `false`.
    public var compressesMessagesAlone = false
    /// The largest window of the server's compressor, as a power of two from 8 to 15. The default, `nil`, leaves it to
    /// the server.
    public var serverWindowBits: Int?
    /// The most bytes of a message that is received, after decompression. One that is larger ends the WebSocket with
    /// ``WebSocketCloseCode/messageTooLarge``. The default is 16 MiB.
    public var maximumMessageByteCount = 16 << 20
    /// How many bytes of messages wait for a reader. If there are more, nothing is read from the connection until the
    /// reader has taken some. The default is 1 MiB.
    public var maximumUnreadByteCount = 1 << 20
    /// The most bytes of messages that wait to be sent; a further message fails as overloaded. The default is 16 MiB.
    public var maximumUnsentByteCount = 16 << 20
    /// How long the server may take to complete a closing handshake. The default is 5 s.
    public var closeTimeout = Duration.seconds(5)
    /// The codes after which the connection is made again if the server closed it. The default is those that say that
    /// the server will be there again: 1001 and 1011 to 1014. It is also made again after a close frame without a code,
    /// and after a loss.
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
            deflate.serverWindowBits = serverWindowBits
            offer.deflate = deflate
        } else {
            offer.deflate = nil
        }
        offer.maximumMessageByteCount = maximumMessageByteCount
        offer.maximumUnreadByteCount = maximumUnreadByteCount
        offer.maximumUnsentByteCount = maximumUnsentByteCount
        offer.closeTimeout = closeTimeout
        return offer
    }
}
