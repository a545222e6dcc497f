import Foundation

/// A port of the loopback that refuses connections: it is taken, so that nobody else can listen on it, and nobody listens on it.
final class RefusingPort {
    let number: UInt16
    private let descriptor: Int32

    init() throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { address in
                bind(descriptor, address.baseAddress, length) == 0
                    && getsockname(descriptor, address.baseAddress, &length) == 0
            }
        }
        number = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw POSIXError(.EADDRINUSE) }
    }

    deinit { close(descriptor) }
}
