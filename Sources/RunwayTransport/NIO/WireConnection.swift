import Foundation
import NIOCore
import NIOSSL
import Runway

/// A connection that carries exchanges, on its event loop.
protocol WireConnection: AnyObject {
    /// Its number within its pool.
    var id: ConnectionID { get }
    /// How it was made.
    var facts: ConnectionFacts { get }
    /// Counts the unread bytes of its streamed responses; `nil` for a connection that carries one exchange at a time.
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

    /// The body of the exchange's request is complete.
    func sendEnd(of exchange: Exchange)

    /// Stops carrying an exchange, which has ended. The connection stays open if it can.
    func cancel(_ exchange: Exchange)

    /// Checks whether the server still responds, if the connection carries an exchange and the protocol has a way to.
    func checkLiveness()

    /// Closes the connection, which does not reach the server any more. Exchanges may move to another.
    func abandon(_ error: any Error)

    /// The reader of the exchange's response consumed this many bytes.
    func consumed(_ byteCount: Int, of exchange: Exchange)

    /// Readers consumed bytes of responses that have ended.
    func readersConsumed()

    /// Closes the connection at once. Exchanges fail with the error.
    func close(failing error: any Error)
}

extension WireConnection {
    /// Bodies in memory are written in pieces of this size. Progress is noticed piece by piece: a path on which one
    /// piece takes longer than the idle time-out looks silent.
    static var pieceByteCount: Int { 64 << 10 }

    /// Records that the address lost a connection with exchanges in flight. Nothing is recorded if the server closes a
    /// connection that was idle, or that it had announced to close.
    ///
    /// - Parameters:
    ///   - error: What the channel reported before it ended; `nil` if the server closed it.
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

    /// HTTP/1.1 has no means to.
    func checkLiveness() {}

    /// HTTP/1.1 carries one protocol.
    var acceptsTunnels: Bool { false }
    func openTunnel(_ head: WireRequestHead, to name: String) -> (any Channel)? { nil }

    /// A connection that carries one exchange at a time counts that one alone.
    var unread: UnreadBytes? { nil }
    func readersConsumed() {}
}

extension Error {
    /// Whether the other end closed or reset a connection, which it can only do if it is there.
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

/// How a connection was made.
struct ConnectionFacts {
    /// The address of this device that it was made from; `nil` if that is not known.
    var localAddress: IPAddress?
    /// What is recorded of the dial.
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

    /// What is recorded of a request on the connection. The times of the dial are those of the request that opened it.
    func wire(isReused: Bool) -> WireRecord {
        var record = isReused ? WireRecord() : wire
        record.isReused = isReused
        record.address = wire.address
        record.tlsVersion = wire.tlsVersion
        return record
    }
}

extension Channel {
    /// Bounds what the system takes from an upload before the network carries it: 128 KiB. Called on the event loop.
    ///
    /// Without a bound, a socket takes megabytes. If the connection breaks, they are lost; until then, they count as
    /// sent in the progress. The bound does not slow the connection down: bytes that are on their way do not count. A
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
