import NIOCore
import Runway

/// A connection that was made and, for `https`, verified; nothing was sent on it yet.
///
/// Its channel does not read automatically. A ``HandoverHandler`` at the end of the pipeline buffers the bytes that
/// arrive right after the handshake, such as a server's HTTP/2 SETTINGS. The user of the connection adds handlers after
/// that handler, and then calls ``takeOver()``, at any time: no byte, error or end is lost. A connection that is not
/// used has to be closed.
struct DialedConnection: Sendable {
    /// The channel, whose pipeline contains TLS for `https`.
    var channel: any Channel
    /// The protocol that both ends agreed on (ALPN, RFC 7301), such as `h2`; `nil` if none.
    var applicationProtocol: String?
    /// The address that was dialled; the proxy's if there is one.
    var address: SocketAddress
    /// The record of the dial: the times of its phases, the version of TLS, and all addresses that were dialled.
    var wire: WireRecord
    /// Records how the address performs; `nil` for a proxy's.
    var report: AddressReport?
    /// The proxy at its end, which forwards requests; `nil` for a connection that leads to the server.
    var forwardProxy: ProxyServer?
    /// Buffers the bytes that arrive before ``takeOver()``.
    var handover: NIOLoopBound<HandoverHandler>

    /// The round-trip time, estimated from the dial: TCP takes one round trip, TLS 1.3 one more, older versions two
    /// (RFC 8446 §2).
    var roundTrip: Duration? {
        guard let tcp = wire.tcp, let tls = wire.tls else { return wire.tcp }
        return (tcp + tls) / (wire.tlsVersion == "TLSv1.3" ? 2 : 3)
    }

    /// Passes the buffered bytes to the handlers after ``handover``, in order, and turns on automatic reading. Called
    /// on the channel's loop, once.
    func takeOver() {
        // The handler passes on what it stores while it is removed. A closed channel has removed its handlers already.
        channel.pipeline.syncOperations.removeHandler(handover.value, promise: nil)
        try? channel.syncOptions?.setOption(.autoRead, value: true)
    }
}

/// Records for the next dial how an address performs, from any thread.
struct AddressReport: Sendable {
    let address: IPAddress
    let host: String
    let selector: HostSelector
    let hosts: HostBook?

    /// Records the time to first byte of one request, from the end of the request to the start of the response.
    /// `endpoint` is a hash that groups similar requests.
    func responded(after firstByte: Duration, endpoint: Int = 0) {
        selector.note(.responded(firstByte: firstByte, endpoint: endpoint), of: address, of: host)
    }

    /// Notes that the connection was lost with requests in flight: closed, reset or silent.
    func failed() { selector.note(.failed, of: address, of: host) }

    /// Whether another address of the host is known to be so much faster that a new connection pays off.
    var hasLost: Bool {
        let known = hosts?.addresses(of: host, scheme: "https") ?? []
        return known.count > 1 && selector.hasLost(address, among: known, of: host)
    }
}
