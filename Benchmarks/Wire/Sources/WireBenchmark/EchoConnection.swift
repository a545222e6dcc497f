import Foundation

/// A TCP connection whose peer echoes every byte, written and read by the calling thread.
final class EchoConnection {
    struct Failed: Error {
        let step: String
        let code: Int32
    }

    private let descriptor: Int32

    /// Connects, and makes a first round trip, which is not like the others.
    init(host: String, port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let result = withUnsafeBytes(of: &address) { bytes in
            connect(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard result == 0 else { throw Failed(step: "connect", code: errno) }
        _ = try roundTrip()
    }

    deinit { close(descriptor) }

    /// The seconds until a byte has come back.
    func roundTrip() throws -> Double {
        var byte: UInt8 = 1
        let start = monotonicTime()
        guard send(descriptor, &byte, 1, 0) == 1 else { throw Failed(step: "send", code: errno) }
        guard recv(descriptor, &byte, 1, 0) == 1 else { throw Failed(step: "recv", code: errno) }
        return monotonicTime() - start
    }
}
