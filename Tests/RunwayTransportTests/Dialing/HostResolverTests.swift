import NIOCore
import NIOPosix
import Testing

@testable import RunwayTransport

/// How names are resolved, with a scripted system resolver.
@Suite(.timeLimit(.minutes(10)))
struct HostResolverTests {
    /// What a name is looked up as where the system says this of every name; `nil` is a system that knows nothing.
    private func addresses(of host: String, where said: [String]?) async throws -> [String?] {
        let resolver = HostResolver { host in
            guard let said else { throw LookupError(host: host, reason: "nobody knows it") }
            return try said.map { try SocketAddress(ipAddress: $0, port: 0) }
        }
        return try await resolver.addresses(of: host, on: MultiThreadedEventLoopGroup.singleton.next()).get()
            .map(\.ipAddress)
    }

    @Test(arguments: ["localhost", "api.localhost", "a.b.localhost"])
    func aNameOfThisMachineLeadsNowhereElse(host: String) async throws {
        #expect(try await addresses(of: host, where: ["203.0.113.9"]) == ["127.0.0.1", "::1"])
        #expect(try await addresses(of: host, where: ["203.0.113.9", "127.0.0.1"]) == ["127.0.0.1"])
        #expect(try await addresses(of: host, where: nil) == ["127.0.0.1", "::1"])
    }

    @Test func namesBelowLocalhostAreLoopback() async throws {
        let resolver = HostResolver { host in
            #expect(host == "localhost")
            return [try SocketAddress(ipAddress: "127.0.0.2", port: 0)]
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        #expect(try await resolver.addresses(of: "api.localhost", on: loop).get().map(\.ipAddress) == ["127.0.0.2"])
    }

    @Test func otherNamesAreResolvedByTheSystem() async throws {
        #expect(try await addresses(of: "localhost.test", where: ["203.0.113.9"]) == ["203.0.113.9"])
    }
}
