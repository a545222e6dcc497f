import Foundation
import NIOCore

/// A port to which no connection is ever established: packets to it get no reply.
///
/// The socket listens and never accepts. Once the system's backlog is full, the system drops further attempts to
/// connect.
final class BlackHole: Sendable {
    private let listener: Int32
    /// The connections that fill the backlog.
    private let fillers: [Int32]

    /// Discards connections to an IPv4 address of this machine.
    ///
    /// - Throws: `POSIXError` if the port is in use, and if the backlog can't be filled.
    init(at address: String, port: Int) throws {
        let listener = try Self.makeSocket()
        var fillers: [Int32] = []
        do {
            var yes: Int32 = 1
            setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            try SocketAddress(ipAddress: address, port: port).withSockAddr { socketAddress, size in
                let length = socklen_t(size)
                // To Apple's systems a limit of 0 is the largest that there is.
                guard bind(listener, socketAddress, length) == 0, listen(listener, 1) == 0 else { throw Self.error }
                // The system takes one more than its limit, at least.
                for _ in 0..<64 {
                    let filler = try Self.makeSocket()
                    fillers.append(filler)
                    _ = fcntl(filler, F_SETFL, O_NONBLOCK)
                    if connect(filler, socketAddress, length) != 0, errno != EINPROGRESS { throw Self.error }
                    var request = pollfd(fd: filler, events: Int16(POLLOUT), revents: 0)
                    let isEstablished = poll(&request, 1, 50) != 0
                    // Where the system does not say it, a connection that is not established within 50 ms never will be.
                    if Self.isFull(listener) ?? !isEstablished { return }
                }
                throw POSIXError(.ENOBUFS)
            }
        } catch {
            for descriptor in fillers + [listener] { close(descriptor) }
            throw error
        }
        self.listener = listener
        self.fillers = fillers
    }

    deinit { for descriptor in fillers + [listener] { close(descriptor) } }

    /// Whether the backlog of a listening socket is full; `nil` if the system does not say so.
    private static func isFull(_ listener: Int32) -> Bool? {
        #if canImport(Glibc)
            var info = tcp_info()
            var size = socklen_t(MemoryLayout<tcp_info>.size)
            guard getsockopt(listener, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0 else { return nil }
            // Of a listening socket these are the connections in its backlog, and its limit, which one more exceeds.
            return info.tcpi_unacked > info.tcpi_sacked
        #else
            return nil
        #endif
    }

    private static var error: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    private static func makeSocket() throws -> Int32 {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw error }
        return descriptor
    }
}
