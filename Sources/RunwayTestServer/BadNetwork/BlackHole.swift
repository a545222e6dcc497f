import Foundation
import NIOCore

/// A port at which no connection can be established, since packets to it receive no reply.
///
/// The socket listens, but never accepts. When its backlog is full, the system drops further connection attempts.
final class BlackHole: Sendable {
    private let listener: Int32
    /// The connections that fill the backlog.
    private let fillers: [Int32]

    /// Starts to drop connections to an IPv4 address of this machine.
    ///
    /// - Throws: `POSIXError` if the port is in use, or if the backlog can't be filled.
    init(at address: String, port: Int) throws {
        let listener = try Self.makeSocket()
        var fillers: [Int32] = []
        do {
            var yes: Int32 = 1
            setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            try SocketAddress(ipAddress: address, port: port).withSockAddr { socketAddress, size in
                let length = socklen_t(size)
                // Apple's systems treat a backlog limit of 0 as the maximum.
                guard bind(listener, socketAddress, length) == 0, listen(listener, 1) == 0 else { throw Self.error }
                // The system accepts at least one connection more than the limit.
                for _ in 0..<64 {
                    let filler = try Self.makeSocket()
                    fillers.append(filler)
                    _ = fcntl(filler, F_SETFL, O_NONBLOCK)
                    if connect(filler, socketAddress, length) != 0, errno != EINPROGRESS { throw Self.error }
                    var request = pollfd(fd: filler, events: Int16(POLLOUT), revents: 0)
                    let isEstablished = poll(&request, 1, 50) != 0
                    // If the system does not report whether the backlog is full, it counts as full when a connection is
                    // not established within 50 ms.
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

    /// Whether the backlog of a listening socket is full; `nil` if the system does not report it.
    private static func isFull(_ listener: Int32) -> Bool? {
        #if canImport(Glibc)
            var info = tcp_info()
            var size = socklen_t(MemoryLayout<tcp_info>.size)
            guard getsockopt(listener, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0 else { return nil }
            // For a listening socket, these fields are the number of connections in the backlog and its limit. A full
            // backlog exceeds the limit by one.
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
