import Foundation
import NIOCore
import NIOSSL
import Runway

/// A connection that carries exchanges, on its event loop.
protocol WireConnection: AnyObject {
    /// The number of the connection within its pool.
    var id: ConnectionID { get }
    /// Facts about how the connection was made.
    var facts: ConnectionFacts { get }
    /// Counts the unread bytes of streamed responses; `nil` for a connection that carries one exchange at a time.
    var unread: UnreadBytes? { get }

    /// Whether a further stream can carry another protocol (RFC 8441 §3).
    var acceptsTunnels: Bool { get }

    /// Opens a stream that carries another protocol, for which the pool has reserved a slot; `nil` unless
    /// ``acceptsTunnels``, or if its head is too large for the server.
    func openTunnel(_ head: WireRequestHead, to name: String) -> (any Channel)?

    /// Sends a request, and reports the response to the exchange.
    func send(_ exchange: Exchange)

    /// Sends a part of the body of the exchange's request. The promise succeeds when the next part may be sent.
    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>)

    /// Ends the body of the exchange's request.
    func sendEnd(of exchange: Exchange)

    /// Stops carrying an exchange that has ended. The connection stays open if it can.
    func cancel(_ exchange: Exchange)

    /// Checks whether the server still responds, if the connection carries an exchange and the protocol allows such a
    /// check.
    func checkLiveness()

    /// Closes the connection, which no longer reaches the server. Exchanges may move to another connection.
    func abandon(_ error: any Error)

    /// Notes that the reader of the exchange's response consumed `byteCount` bytes.
    func consumed(_ byteCount: Int, of exchange: Exchange)

    /// Readers of responses that have ended consumed bytes.
    func readersConsumed()

    /// Closes the connection at once. Exchanges fail with the error.
    func close(failing error: any Error)
}

extension WireConnection {
    /// The size of the pieces in which bodies in memory are written. Progress is noticed piece by piece: a path on
    /// which one piece takes longer than the idle time-out looks silent.
    static var pieceByteCount: Int { 64 << 10 }

    /// Records that the address lost a connection with exchanges in flight. Nothing is recorded if the server closes a
    /// connection that was idle, or that it had announced to close.
    ///
    /// - Parameters:
    ///   - error: The channel's last error before it ended; `nil` if the server closed it.
    ///   - isDraining: Whether the server had announced to close the connection. The default is `false`.
    func reportLoss(_ error: (any Error)?, of carried: [Exchange], isDraining: Bool = false) {
        // A connection that the device closed says nothing about the server.
        if carried.isEmpty || error as? WireError == .networkGone { return }
        // Nor does a refusal that any address of the host would send.
        if error.flatMap({ TLSFailure($0)?.refusesClient }) == true { return }
        let isRace = isDraining || carried.allSatisfy { $0.isReused && !$0.hasResponse }
        if isRace, error.map(\.isCloseOrReset) ?? true { return }
        facts.report?.failed()
    }

    /// Does nothing: HTTP/1.1 has no way to check.
    func checkLiveness() {}

    /// `false`: an HTTP/1.1 connection carries one protocol.
    var acceptsTunnels: Bool { false }
    func openTunnel(_ head: WireRequestHead, to name: String) -> (any Channel)? { nil }

    /// `nil`: a connection that carries one exchange at a time needs no count of all its exchanges.
    var unread: UnreadBytes? { nil }
    func readersConsumed() {}
}

extension Error {
    /// Whether the other end closed or reset the connection, which proves that it could be reached.
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

/// Facts about how a connection was made.
struct ConnectionFacts {
    /// The address of this device that the connection was made from; `nil` if it is not known.
    var localAddress: IPAddress?
    /// The record of the dial.
    var wire: WireRecord
    /// Records how the address performs.
    var report: AddressReport?
    /// The proxy that forwards requests; `nil` for a connection that leads to the server.
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

    /// Returns the record of a request on the connection. Only the request that opened the connection has the times of
    /// the dial.
    func wire(isReused: Bool) -> WireRecord {
        var record = isReused ? WireRecord() : wire
        record.isReused = isReused
        record.address = wire.address
        record.tlsVersion = wire.tlsVersion
        return record
    }
}

extension Channel {
    /// Limits the bytes of an upload that the system buffers before the network carries them: 128 KiB. Called on the
    /// event loop.
    ///
    /// Without a limit, a socket buffers megabytes. If the connection breaks, they are lost; until then, they count as
    /// sent in the progress. The limit does not slow the connection down: bytes that are on their way do not count. A
    /// system that lacks the option ignores it.
    func limitUnsentBytes() {
        // TCP_NOTSENT_LOWAT, which no module that is imported here defines.
        #if canImport(Darwin)
            let option = NIOBSDSocket.Option(rawValue: 0x201)
        #else
            let option = NIOBSDSocket.Option(rawValue: 25)
        #endif
        try? syncOptions?.setOption(.tcpOption(option), value: 128 << 10)
    }
}
