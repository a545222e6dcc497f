import NIOCore
import NIOPosix

/// Several addresses of one server, each with the network conditions that a test sets: near, far, lossy, silent,
/// refusing.
///
/// ```swift
/// let network = try await BadNetwork(to: origin.port, addresses: 4)
/// try await network.paths[0].set(.silent)
/// try await network.paths[1].set(.passing(PathConditions(roundTrip: .milliseconds(80))))
/// // … let the app call network.port at 127.0.0.2, 127.0.0.3, …
/// await network.shutDown()
/// ```
///
/// The object forwards bytes from `127.0.0.2`, `127.0.0.3` and so on to the server at `127.0.0.1`. It works within the
/// process, and needs no permission to change the system's network. On Linux all loopback addresses exist; on Apple's
/// systems they have to be added first. The establishment of a connection can't be delayed; see
/// ``PathConditions/roundTrip``.
public final class BadNetwork: Sendable {
    /// The port, which is the same at all addresses.
    public let port: Int
    /// The paths, in the order of ``addresses``.
    public let paths: [NetworkPath]

    /// Starts a network whose paths forward bytes without delay until their conditions are set.
    ///
    /// - Parameters:
    ///   - server: The port of the server at 127.0.0.1.
    ///   - count: The number of addresses that lead to the server; 1 to 200.
    ///   - seed: The seed of the random generator. Equal seeds have equal jitter and loss. The default is 1.
    /// - Throws: `IOError` if no port is free at all addresses.
    public init(to server: Int, addresses count: Int, seed: UInt64 = 1) async throws {
        let addresses = (2..<2 + min(max(count, 1), 200)).map { "127.0.0.\($0)" }
        let target = try SocketAddress(ipAddress: "127.0.0.1", port: server)
        var lastError: any Error = ChannelError.unknownLocalAddress
        for _ in 0..<20 {
            // The first path takes any free port, which may be in use at another address.
            let probe = try NetworkPath(at: addresses[0], port: 0, to: target, seed: seed)
            let port = try await probe.listen()
            await probe.shutDown()
            var paths: [NetworkPath] = []
            do {
                for (index, address) in addresses.enumerated() {
                    let path = try NetworkPath(
                        at: address, port: port, to: target, seed: seed &+ UInt64(index) << 32)
                    paths.append(path)
                    try await path.listen()
                }
                self.port = port
                self.paths = paths
                return
            } catch {
                lastError = error
                for path in paths { await path.shutDown() }
            }
        }
        throw lastError
    }

    /// The addresses that lead to the server.
    public var addresses: [String] { paths.map(\.address) }

    /// Closes all connections, and stops listening.
    public func shutDown() async { for path in paths { await path.shutDown() } }
}

/// Runs `body` with a new ``BadNetwork``. Shuts the network down afterwards, even if `body` throws.
package func withBadNetwork<Value>(
    to server: Int, addresses count: Int, seed: UInt64 = 1, _ body: (BadNetwork) async throws -> Value
) async throws -> Value {
    let network = try await BadNetwork(to: server, addresses: count, seed: seed)
    let result: Result<Value, any Error>
    do { result = .success(try await body(network)) } catch { result = .failure(error) }
    await network.shutDown()
    return try result.get()
}
