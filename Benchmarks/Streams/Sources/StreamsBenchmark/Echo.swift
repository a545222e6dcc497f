import Foundation

/// A TCP connection on the loopback whose peer echoes every byte, written and read by the calling thread.
final class EchoConnection: Sendable {
    private let socket: LoopbackSocket

    /// Connects to the port of ``startEcho()``.
    init(port: Int) throws {
        socket = try LoopbackSocket()
        try socket.withAddress(port: port) { address, length in
            try LoopbackSocket.check(connect(socket.descriptor, address, length), "connect")
        }
        try socket.sendAtOnce()
    }

    /// The nanoseconds until so many bytes have come back.
    func roundTrip(byteCount: Int) throws -> Int64 {
        var bytes = [UInt8](repeating: 1, count: byteCount)
        let start = monotonicNanoseconds()
        guard send(socket.descriptor, bytes, byteCount, 0) == byteCount else { throw Failed("send: \(errno)") }
        var received = 0
        while received < byteCount {
            let count = recv(socket.descriptor, &bytes, byteCount - received, 0)
            guard count > 0 else { throw Failed("recv: \(errno)") }
            received += count
        }
        return monotonicNanoseconds() - start
    }
}

/// Listens on the loopback, and echoes what one connection sends, on a thread of its own. Returns the port.
func startEcho() throws -> Int {
    let listener = try LoopbackSocket()
    try listener.withAddress(port: 0) { address, length in
        try LoopbackSocket.check(bind(listener.descriptor, address, length), "bind")
    }
    try LoopbackSocket.check(listen(listener.descriptor, 1), "listen")
    let port = try listener.port
    Thread.detachNewThread {
        let socket = LoopbackSocket(descriptor: accept(listener.descriptor, nil, nil))
        try? socket.sendAtOnce()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(socket.descriptor, &bytes, bytes.count, 0), count > 0 {
            guard send(socket.descriptor, bytes, count, 0) == count else { return }
        }
    }
    return port
}

/// A TCP socket, which is closed with the last reference.
private final class LoopbackSocket: Sendable {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try Self.check(descriptor, "socket")
    }

    deinit { close(descriptor) }

    static func check(_ result: Int32, _ step: String) throws {
        guard result >= 0 else { throw Failed("\(step): \(errno)") }
    }

    /// Has small parts sent without waiting for more.
    func sendAtOnce() throws {
        var isOn: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        try Self.check(setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, length), "setsockopt")
    }

    func withAddress(port: Int, _ use: (UnsafePointer<sockaddr>, socklen_t) throws -> Void) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try use($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The port that the system chose.
    var port: Int {
        get throws {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    try Self.check(getsockname(descriptor, $0, &length), "getsockname")
                }
            }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}
