import NIOCore
import Runway

/// A connection that was made and, for `https`, proved to lead to its host; nothing was sent on it yet.
///
/// Its channel does not read by itself, and a ``HandoverHandler`` at its end keeps whatever came right after the handshake, such as a
/// server's HTTP/2 SETTINGS. Whoever gets it adds the handlers that shall speak on it behind that one, and then calls
/// ``takeOver()``: no byte, error or end is lost, however much later that is. Whoever doesn't want it closes
/// the channel.
struct DialedConnection: Sendable {
    /// The channel, whose pipeline holds TLS where there is any.
    var channel: any Channel
    /// What both ends agreed to speak (ALPN), such as `h2`; `nil` where nothing was agreed.
    var applicationProtocol: String?
    /// The address that was dialled; a proxy's where there is one.
    var address: SocketAddress
    /// How long it took.
    var dialTimes: DialTimes
    /// The version of TLS, such as `TLSv1.3`; `nil` without TLS.
    var tlsVersion: String?
    /// Every address that was dialled for it, in order.
    var dialed: [DialedAddress] = []
    /// Where to tell how the address does; `nil` where it is a proxy's.
    var report: AddressReport?
    /// Keeps what comes until somebody takes over.
    var handover: NIOLoopBound<HandoverHandler>

    /// The time of one round trip, as the dial took it: TCP takes one, TLS 1.3 another one, older versions two (RFC 8446 §2).
    var roundTrip: Duration? {
        guard let tcp = dialTimes.tcp, let tls = dialTimes.tls else { return dialTimes.tcp }
        return (tcp + tls) / (tlsVersion == "TLSv1.3" ? 2 : 3)
    }

    /// Gives what came so far to the handlers behind, in order, and lets the channel read by itself. On the channel's loop, once.
    func takeOver() {
        // The handler gives what it keeps while it is removed. A channel that is closed already has lost all its handlers, and has
        // told them.
        channel.pipeline.syncOperations.removeHandler(handover.value, promise: nil)
        try? channel.syncOptions?.setOption(.autoRead, value: true)
    }
}

/// How long the steps of a dial took. A step that was not needed, or whose time is not known, is `nil`.
struct DialTimes: Sendable, Equatable {
    /// From the first question for the host's addresses to the answer.
    var dns: Duration?
    /// From the first packet to this address to the connection.
    var tcp: Duration?
    /// From the connection to the end of the handshake; a proxy's part is in it.
    var tls: Duration?
}
