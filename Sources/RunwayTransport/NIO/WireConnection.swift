import Foundation
import NIOCore
import NIOSSL
import Runway

/// A connection that carries exchanges, on its event loop.
protocol WireConnection: AnyObject {
    /// Its number within its pool.
    var id: ConnectionID { get }
    /// What is known of how it was made.
    var facts: ConnectionFacts { get }
    /// Where it counts what of the answers over it waits for readers; `nil` where it carries one at a time.
    var unread: UnreadBytes? { get }

    /// Puts a request on the wire, and tells the exchange of its answer.
    func send(_ exchange: Exchange)

    /// Puts a part of the body of its request on the wire; the promise is kept when more may come.
    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>)

    /// The body of its request is complete.
    func sendEnd(of exchange: Exchange)

    /// The exchange is over on its side: nobody wants its answer. The connection is kept if it can be.
    func cancel(_ exchange: Exchange)

    /// Finds out soon whether the connection still leads to the server, if it carries anything and there is a way to ask.
    func checkLiveness()

    /// The connection leads nowhere: what it carries is lost, and may go on another.
    func abandon(_ error: any Error)

    /// The reader of the exchange's answer took so many bytes.
    func consumed(_ byteCount: Int, of exchange: Exchange)

    /// Readers took something of answers that have ended.
    func readersConsumed()

    /// Ends the connection at once; what it carries fails with the error.
    func close(failing error: any Error)
}

extension WireConnection {
    /// Bodies in memory are written in pieces of this size. Their progress shows piece by piece, so that a way on which one takes longer
    /// than a server may be silent looks like silence.
    static var pieceByteCount: Int { 64 << 10 }

    /// Tells that the connection was lost under what it carried, where that says something of its address: a server that closes what was
    /// idle, or what it said that it would close, is as well as before.
    ///
    /// - Parameters:
    ///   - error: What the channel reported before it ended; `nil` where the server closed it.
    ///   - isDraining: Whether the server had said that it would end the connection.
    func reportLoss(_ error: (any Error)?, of carried: [Exchange], isDraining: Bool = false) {
        // What the device itself gave up says nothing of the other end.
        if carried.isEmpty || error as? WireError == .networkGone { return }
        // Nor does a refusal that any address of the host would give.
        if error.flatMap({ TLSFailure($0)?.refusesClient }) == true { return }
        let isRace = isDraining || carried.allSatisfy { $0.isReused && !$0.hasResponse }
        if isRace, error.map(\.isCloseOrReset) ?? true { return }
        facts.report?.failed()
    }

    /// There is no way to ask.
    func checkLiveness() {}

    /// It carries one answer at a time, and counts that one alone.
    var unread: UnreadBytes? { nil }
    func readersConsumed() {}
}

extension Error {
    /// Whether the other end closed or reset a connection, which it can only do if it is there.
    fileprivate var isCloseOrReset: Bool {
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
    /// The address that was dialled, with its port.
    var address: String
    /// The address of this device that it was made from; `nil` where that is not known.
    var localAddress: IPAddress?
    /// The version of TLS.
    var tlsVersion: String?
    /// What the steps of the dial took.
    var times: DialTimes
    /// Every address that was dialled.
    var dialed: [DialedAddress]
    /// Where to tell how the address does.
    var report: AddressReport?

    init(_ dialed: DialedConnection) {
        let port = dialed.address.port.map { ":\($0)" } ?? ""
        if let ip = dialed.address.ipAddress {
            address = dialed.address.protocol == .inet6 ? "[\(ip)]\(port)" : ip + port
        } else {
            address = "\(dialed.address)"
        }
        localAddress = dialed.channel.localAddress?.ipAddress.flatMap { IPAddress($0) }
        tlsVersion = dialed.tlsVersion
        times = dialed.dialTimes
        self.dialed = dialed.dialed
        report = dialed.report
    }
}
