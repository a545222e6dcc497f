import Foundation
import NIOCore
import NIOSSL
import Runway

/// A connection that carries exchanges, on its event loop.
protocol WireConnection: AnyObject {
    var id: ConnectionID { get }
    var facts: ConnectionFacts { get }
    /// Counts the unread bytes of streamed responses; `nil` for a connection that carries one exchange at a time.
    var unread: UnreadBytes? { get }

    /// Whether a new stream of the connection can carry another protocol (RFC 8441 §3).
    var acceptsTunnels: Bool { get }

    /// Opens a stream that carries another protocol. The pool must have reserved a slot. Returns `nil` if
    /// ``acceptsTunnels`` is `false`, or if the head is too large for the server.
    func openTunnel(_ head: WireRequestHead, to name: String) -> (any Channel)?

    /// Sends a request, and reports the response to the exchange.
    func send(_ exchange: Exchange)

    /// Sends a part of a streamed body. The promise succeeds when the next part may be sent.
    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>)

    /// Ends a streamed body.
    func sendEnd(of exchange: Exchange)

    /// Stops carrying a cancelled exchange. The connection stays open if possible.
    func cancel(_ exchange: Exchange)

    /// Checks whether the server still responds, if the connection carries an exchange and the protocol permits a
    /// check.
    func checkLiveness()

    /// Closes a connection whose server is unreachable. Exchanges may move to another connection.
    func abandon(_ error: any Error)

    /// Records that the reader of the exchange's response consumed `byteCount` bytes.
    func consumed(_ byteCount: Int, of exchange: Exchange)

    /// Handles bytes that readers of ended responses consumed.
    func readersConsumed()

    /// Closes the connection immediately. Its exchanges fail with the error.
    func close(failing error: any Error)
}

extension WireConnection {
    /// The size of the pieces in which bodies in memory are written. Progress is noticed per piece: if one piece takes
    /// longer than the idle timeout, the connection counts as silent.
    static var pieceByteCount: Int { 64 << 10 }

    /// Records that the address lost a connection with exchanges in flight. Nothing is recorded if the server closed an
    /// idle connection, or one that it had announced to close.
    ///
    /// - Parameters:
    ///   - error: The channel's last error before it ended; `nil` if the server closed it.
    ///   - isDraining: Whether the server had announced to close the connection. The default is `false`.
    func reportLoss(_ error: (any Error)?, of carried: [Exchange], isDraining: Bool = false) {
        // The end of an unused connection, or of a connection whose network is gone, says nothing about the server.
        if carried.isEmpty || error as? WireError == .networkGone { return }
        // Every address of the host would refuse this client, so the error says nothing about this address.
        if error.flatMap({ TLSFailure($0)?.refusesClient }) == true { return }
        let isRace = isDraining || carried.allSatisfy { $0.isReused && !$0.hasResponse }
        if isRace, error.map(\.isCloseOrReset) ?? true { return }
        facts.report?.failed()
    }

    /// Does nothing, since HTTP/1.1 has no PING.
    func checkLiveness() {}

    /// `false`, since an HTTP/1.1 connection carries only one protocol.
    var acceptsTunnels: Bool { false }
    func openTunnel(_ head: WireRequestHead, to name: String) -> (any Channel)? { nil }

    /// `nil`: an HTTP/1.1 connection carries one exchange at a time, so it needs no total of unread bytes.
    var unread: UnreadBytes? { nil }
    func readersConsumed() {}
}

extension Error {
    /// Whether the peer closed or reset the connection, which proves that it was reachable.
    var isCloseOrReset: Bool {
        switch self as any Error {
        case let error as IOError: [ECONNRESET, EPIPE, ECONNABORTED].contains(error.errnoCode)
        case ChannelError.eof, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed: true
        case NIOSSLError.uncleanShutdown: true
        case WireError.closed: true
        default: false
        }
    }
}

/// Properties of a connection that do not change.
struct ConnectionFacts {
    /// The local address of the connection; `nil` if it is not known.
    var localAddress: IPAddress?
    /// The record of the dial.
    var wire: WireRecord
    /// Records how the server's address performs; `nil` if the connection leads to a proxy.
    var report: AddressReport?
    /// The proxy that forwards requests; `nil` for a connection to the server.
    let forwardProxy: ProxyServer?

    init(_ dialed: DialedConnection) {
        wire = dialed.wire
        let port = dialed.address.port.map { ":\($0)" } ?? ""
        if let ip = dialed.address.ipAddress {
            wire.address = dialed.address.protocol == .inet6 ? "[\(ip)]\(port)" : ip + port
        } else {
            wire.address = "\(dialed.address)"
        }
        localAddress = dialed.channel.localAddress?.ipAddress.flatMap { IPAddress($0) }
        report = dialed.report
        forwardProxy = dialed.forwardProxy
    }

    /// Returns the record of a request on the connection. Only the request that opened the connection includes the
    /// durations of the dial.
    func wire(isReused: Bool) -> WireRecord {
        var record = isReused ? WireRecord() : wire
        record.isReused = isReused
        record.address = wire.address
        record.tlsVersion = wire.tlsVersion
        return record
    }
}

extension Channel {
    /// Limits the bytes of an upload that the system buffers before the network sends them: 128 KiB. Call on the event
    /// loop.
    ///
    /// Without a limit, a socket buffers megabytes, which count as sent in the progress and are lost if the connection
    /// breaks. The limit does not slow the connection down, since bytes in flight do not count. A system without the
    /// option ignores it.
    func limitUnsentBytes() {
        // No imported module defines TCP_NOTSENT_LOWAT.
        #if canImport(Darwin)
            let option = NIOBSDSocket.Option(rawValue: 0x201)
        #else
            let option = NIOBSDSocket.Option(rawValue: 25)
        #endif
        try? syncOptions?.setOption(.tcpOption(option), value: 128 << 10)
    }
}
