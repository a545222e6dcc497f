/// The offer of a request that asks a server to become a WebSocket (RFC 6455 §4.1).
///
/// Stages and redirects change the request like any other; the transport that receives it performs the handshake. A
/// transport that does not support WebSockets sends a plain GET, whose response the layer refuses.
package struct WebSocketOffer: Sendable, Equatable {
    /// The subprotocols, the preferred one first. The default is empty.
    package var subprotocols: [String] = []
    /// The offered compression (RFC 7692); `nil` offers none. The default is ``Deflate`` with its defaults.
    package var deflate: Deflate? = Deflate()
    /// The most bytes of a received message, after decompression. The default is 16 MiB.
    package var maximumMessageByteCount = 16 << 20
    /// The most bytes of messages that wait for their reader before the connection is no longer read. The default is 1
    /// MiB.
    package var maximumUnreadByteCount = 1 << 20
    /// The most bytes of messages that may wait to be sent. The default is 16 MiB.
    package var maximumUnsentByteCount = 16 << 20
    /// The time within which the server has to complete the closing handshake (RFC 6455 §7.1.1). The default is 5 s.
    package var closeTimeout: Duration = .seconds(5)

    /// Creates an offer with the defaults.
    package init() {}

    /// The parameters of permessage-deflate that are offered (RFC 7692 §7.1).
    package struct Deflate: Sendable, Equatable {
        /// Whether the server is to compress each message independently. The default is `false`.
        package var resetsServerContext = false
        /// Whether the client compresses each message independently. The default is `false`.
        package var resetsClientContext = false
        /// The server's largest window, as a power of two from 8 to 15. The default, `nil`, leaves it to the server.
        package var serverWindowBits: Int?
        /// The size at which a message is compressed. The default is 64 bytes.
        package var minimumByteCount = 64

        /// Creates parameters with the defaults.
        package init() {}
    }
}

extension Request {
    /// The offer of a request that asks to become a WebSocket; `nil` for all other requests.
    package var webSocket: WebSocketOffer? {
        get { values[WebSocketOffer.self] }
        set { values[WebSocketOffer.self] = newValue }
    }
}

extension WebSocketOffer: StageValueKey {
    static var defaultValue: WebSocketOffer? { nil }
}
