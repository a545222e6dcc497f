import NIOCore
import Runway

/// A connection that was established and, for `https`, verified. No request was sent on it yet.
///
/// Its channel does not read automatically. A ``HandoverHandler`` at the end of the pipeline buffers bytes that arrive
/// right after the handshake, such as a server's HTTP/2 SETTINGS. The user adds handlers after it, and then calls
/// ``takeOver()``. No byte, error or end of the connection is lost before that call. A connection that is not used must
/// be closed.
struct DialedConnection: Sendable {
    /// The channel. For `https`, its pipeline contains TLS.
    var channel: any Channel
    /// The negotiated protocol (ALPN, RFC 7301), such as `h2`; `nil` if none was negotiated.
    var applicationProtocol: String?
    /// The address that was dialled: the server's or a proxy's.
    var address: SocketAddress
    /// The record of the dial: the durations of its phases, the TLS version, and all dialled addresses.
    var wire: WireRecord
    /// Records how the server's address performs; `nil` if the connection leads to a proxy.
    var report: AddressReport?
    /// The proxy that forwards requests; `nil` for a connection to the server, directly or through a tunnel.
    var forwardProxy: ProxyServer?
    var handover: NIOLoopBound<HandoverHandler>

    /// The round-trip time, estimated from the dial: TCP takes one round trip, TLS 1.3 another, older versions two more
    /// (RFC 8446 §2).
    var roundTrip: Duration? {
        guard let tcp = wire.tcp, let tls = wire.tls else { return wire.tcp }
        return (tcp + tls) / (wire.tlsVersion == "TLSv1.3" ? 2 : 3)
    }

    /// Passes the buffered bytes to the handlers after ``handover``, in order, and turns on automatic reading. Call it
    /// once, on the channel's event loop.
    func takeOver() {
        // On its removal, the handler passes on the buffered bytes. A closed channel has already removed its handlers.
        channel.pipeline.syncOperations.removeHandler(handover.value, promise: nil)
        try? channel.syncOptions?.setOption(.autoRead, value: true)
    }
}

/// Records the performance of an address for later dials. Callable from any thread.
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

    /// Records that the connection was closed, reset or silent with requests in flight.
    func failed() { selector.note(.failed, of: address, of: host) }

    /// Whether another address of the host is so much faster that a new connection pays off.
    var hasLost: Bool {
        let known = hosts?.addresses(of: host, scheme: "https") ?? []
        return known.count > 1 && selector.hasLost(address, among: known, of: host)
    }
}
