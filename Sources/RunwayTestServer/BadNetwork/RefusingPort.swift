import Foundation
import NIOCore

/// A bound loopback port without a listener. The system refuses connections to it, and assigns it to no other socket.
package final class RefusingPort: Sendable {
    package let number: UInt16
    private let descriptor: Int32

    /// Reserves a port until this object is released.
    ///
    /// - Parameters:
    ///   - address: An IPv4 address of the loopback interface. The default is `127.0.0.1`.
    ///   - number: The port. The default, 0, lets the system choose a free one.
    /// - Throws: `POSIXError` if the port is in use.
    package init(at address: String = "127.0.0.1", number: UInt16 = 0) throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let socketAddress = try SocketAddress(ipAddress: address, port: Int(number))
        let descriptor = socket(AF_INET, kind, 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isBound = socketAddress.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
        // The third and fourth byte of `sockaddr_in` are the port, in network byte order.
        self.number = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
            var length = socklen_t(bytes.count)
            _ = getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
        self.descriptor = descriptor
        guard isBound else { throw POSIXError(.EADDRINUSE) }
    }

    deinit { close(descriptor) }

    /// Reserves a port for servers that bind it by number with address reuse, while none of them listens.
    ///
    /// - Parameters:
    ///   - address: An IPv4 address of the loopback interface. The default is `127.0.0.1`.
    ///   - port: A port without a listener; 0 lets the system choose a free one.
    /// - Returns: The reservation; `nil` on other systems than Linux, since there a server can't bind a port that
    ///   another socket has.
    /// - Throws: `POSIXError` if the port is in use.
    package static func reservation(at address: String = "127.0.0.1", port: Int) throws -> RefusingPort? {
        #if os(Linux)
            return try RefusingPort(at: address, number: UInt16(port))
        #else
            return nil
        #endif
    }
}
