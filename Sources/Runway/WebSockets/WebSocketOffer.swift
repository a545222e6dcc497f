/// Asks the server to open a WebSocket (RFC 6455 §4.1). A request that carries an offer is a handshake.
///
/// Stages and redirects treat the request like any other request. The transport performs the handshake. A transport
/// that does not support WebSockets sends a plain GET, whose response the layer refuses.
package struct WebSocketOffer: Sendable, Equatable {
    /// The subprotocols, preferred one first. The default is empty.
    package var subprotocols: [String] = []
    /// The offered compression (RFC 7692); `nil` if no compression is offered. The default is ``Deflate`` with its
    /// defaults.
    package var deflate: Deflate? = Deflate()
    /// The maximum size of a received message in bytes, after decompression. The default is 16 MiB.
    package var maximumMessageByteCount = 16 << 20
    /// The maximum number of bytes of unread messages. While more bytes are unread, the connection is not read. The
    /// default is 1 MiB.
    package var maximumUnreadByteCount = 1 << 20
    /// The maximum number of bytes of messages that wait to be sent. The default is 16 MiB.
    package var maximumUnsentByteCount = 16 << 20
    /// The time in which the server must complete the closing handshake (RFC 6455 §7.1.1). The default is 5 s.
    package var closeTimeout: Duration = .seconds(5)

    package init() {}

    /// The offered parameters of permessage-deflate (RFC 7692 §7.1).
    package struct Deflate: Sendable, Equatable {
        /// Whether the server should compress each message independently. The default is `false`.
        package var resetsServerContext = false
        /// Whether the client compresses each message independently. The default is `false`.
        package var resetsClientContext = false
        /// The maximum size of the server's compression window, as an exponent of two from 8 to 15. With the default,
        /// `nil`, the server decides.
        package var serverWindowBits: Int?
        /// The minimum size of messages that are compressed, in bytes. The default is 64.
        package var minimumByteCount = 64

        package init() {}
    }
}

extension Request {
    /// The offer in the handshake of a WebSocket; `nil` for all other requests.
    package var webSocket: WebSocketOffer? {
        get { values[WebSocketOffer.self] }
        set { values[WebSocketOffer.self] = newValue }
    }
}

extension WebSocketOffer: StageValueKey {
    static var defaultValue: WebSocketOffer? { nil }
}
