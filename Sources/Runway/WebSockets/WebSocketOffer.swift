/// What a request offers a server in order to become a WebSocket (RFC 6455 §4.1).
///
/// A stage or a redirect changes the request as any other; the transport that receives it makes the handshake. A
/// transport that does not know WebSockets sends a plain GET, whose response the layer refuses.
package struct WebSocketOffer: Sendable, Equatable {
    /// The subprotocols, the preferred one first. The default is empty.
    package var subprotocols: [String] = []
    /// The compression that is offered (RFC 7692); `nil` offers none. The default is ``Deflate`` with its defaults.
    package var deflate: Deflate? = Deflate()
    /// The most bytes of one message that is received, after decompression. The default is 16 MiB.
    package var maximumMessageByteCount = 16 << 20
    /// How many bytes of messages may wait for their reader before the connection is not read any more. The default is
    /// 1 MiB.
    package var maximumUnreadByteCount = 1 << 20
    /// The most bytes of messages that may wait to be sent. The default is 16 MiB.
    package var maximumUnsentByteCount = 16 << 20
    /// How long the server may take to complete the closing handshake (RFC 6455 §7.1.1). The default is 5 s.
    package var closeTimeout: Duration = .seconds(5)

    /// An offer with the defaults.
    package init() {}

    /// The parameters of permessage-deflate that are offered (RFC 7692 §7.1).
    package struct Deflate: Sendable, Equatable {
        /// Whether the server is to compress each message by itself. The default is `false`.
        package var resetsServerContext = false
        /// Whether the client compresses each message by itself. The default is `false`.
        package var resetsClientContext = false
        /// The server's largest window, as a power of two from 8 to 15. The default, `nil`, leaves it to the server.
        package var serverWindowBits: Int?
        /// The size from which on messages are compressed. The default is 64 bytes.
        package var minimumByteCount = 64

        /// Parameters with the defaults.
        package init() {}
    }
}

extension Request {
    /// What the request offers in order to become a WebSocket; `nil` for all other requests.
    package var webSocket: WebSocketOffer? {
        get { values[WebSocketOffer.self] }
        set { values[WebSocketOffer.self] = newValue }
    }
}

extension WebSocketOffer: StageValueKey {
    static var defaultValue: WebSocketOffer? { nil }
}
