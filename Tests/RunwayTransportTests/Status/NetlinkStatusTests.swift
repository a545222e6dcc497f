import Foundation
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

#if os(Linux)
    import Glibc

    /// The kernel's own word, in a network of the test's own.
    @Suite(.timeLimit(.minutes(10)), .enabled { await Namespace.isPossible() })
    struct NetlinkStatusTests {
        @Test func theStatusFollowsTheDefaultRoute() async throws {
            let namespace = try await Namespace()
            try await follow(namespace)
            try await namespace.remove()
        }

        private func follow(_ namespace: Namespace) async throws {
            let status = try await namespace.makeStatus()
            #expect(status.current == .none)
            let heard = AsyncStream<Void>.makeStream()
            let observation = status.observe { heard.continuation.yield() }

            try await namespace.ip("link", "add", "test0", "type", "veth", "peer", "name", "test1")
            try await namespace.ip("addr", "add", "192.0.2.2/24", "dev", "test0")
            try await namespace.ip("link", "set", "test0", "up")
            try await namespace.ip("link", "set", "test1", "up")
            #expect(status.current == .none, "a link without a way out is no network")
            try await namespace.ip("route", "add", "default", "via", "192.0.2.1")
            try await waitUntil("the network") { status.current.isReachable }
            #expect(status.current == NetworkStatus(.wired, identity: "192.0.2.1 on test0"))
            for await _ in heard.stream { break }

            // Somebody pulls the plug at the other end, and puts it back.
            try await namespace.ip("link", "set", "test1", "down")
            try await waitUntil("no network") { status.current == .none }
            try await namespace.ip("link", "set", "test1", "up")
            try await waitUntil("the network again") { status.current.link == .wired }

            // A route that is taken away with its link does not come back with it.
            try await namespace.ip("link", "set", "test0", "down")
            try await waitUntil("no network") { status.current == .none }
            try await namespace.ip("link", "set", "test0", "up")
            try await namespace.ip("-6", "route", "add", "default", "via", "fe80::1", "dev", "test0")
            try await waitUntil("the network over IPv6") { status.current.identity == "fe80::1 on test0" }
            withExtendedLifetime(observation) {}
        }
    }

    /// A network namespace with a loopback and nothing else.
    private struct Namespace {
        private let name = "runway-\(UInt32.random(in: 0...UInt32.max))"

        /// Whether this process may make one.
        static func isPossible() async -> Bool {
            guard geteuid() == 0, await run(["ip", "netns", "add", "runway-probe"]) == 0 else { return false }
            return await run(["ip", "netns", "delete", "runway-probe"]) == 0
        }

        init() async throws { try #require(await Self.run(["ip", "netns", "add", name]) == 0) }

        func ip(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try #require(await Self.run(["ip", "-n", name] + arguments) == 0, sourceLocation: sourceLocation)
        }

        func remove() async throws { try #require(await Self.run(["ip", "netns", "delete", name]) == 0) }

        /// Makes a status in the namespace: its sockets stay there, whoever reads them.
        func makeStatus() async throws -> NetlinkNetworkStatus {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            let file = open("/var/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
                            defer { close(file) }
                            // The thread ends with this, and nobody else is moved.
                            typealias SetNamespace = @convention(c) (CInt, CInt) -> CInt
                            let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), "setns"))
                            guard unsafeBitCast(symbol, to: SetNamespace.self)(file, 0x4000_0000) == 0 else {
                                throw POSIXError(.EPERM)
                            }
                            return try NetlinkNetworkStatus()
                        })
                }
            }
        }

        private static func run(_ command: [String]) async -> Int32 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = command
            process.standardError = FileHandle.nullDevice
            return (try? await process.runToItsEnd()) ?? -1
        }
    }
#endif

/// What the kernel says, byte by byte.
struct RouteTableTests {
    private func attribute(_ kind: UInt16, _ content: [UInt8]) -> [UInt8] {
        let bytes = NetlinkMessage.bytes(of: UInt16(4 + content.count)) + NetlinkMessage.bytes(of: kind) + content
        return bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private func message(_ kind: UInt16, _ content: [UInt8]) -> [UInt8] {
        NetlinkMessage.bytes(of: UInt32(16 + content.count)) + NetlinkMessage.bytes(of: kind) + [0, 0]
            + Array(repeating: 0, count: 8) + content
    }

    private func link(_ index: UInt32, _ name: String, flags: UInt32) -> [UInt8] {
        message(
            16,
            [0, 0, 1, 0] + NetlinkMessage.bytes(of: index) + NetlinkMessage.bytes(of: flags) + [0, 0, 0, 0]
                + attribute(3, Array(name.utf8) + [0]))
    }

    private func route(
        _ index: UInt32, metric: UInt32, table: UInt8 = 254, length: UInt8 = 0, type: UInt8 = 1,
        gateway: [UInt8] = [192, 0, 2, 1]
    ) -> [UInt8] {
        let family: UInt8 = gateway.count == 4 ? 2 : 10
        let fixed: [UInt8] = [family, length, 0, 0, table, 3, 0, type, 0, 0, 0, 0]
        return message(
            24,
            fixed + attribute(4, NetlinkMessage.bytes(of: index)) + attribute(5, gateway)
                + attribute(6, NetlinkMessage.bytes(of: metric)))
    }

    private func status(_ messages: [UInt8]...) -> NetworkStatus {
        var table = RouteTable()
        for message in NetlinkMessage.messages(in: messages.flatMap { $0 }) { table.read(message) }
        return table.status { $0.hasPrefix("wl") ? .wifi : $0.hasPrefix("ww") ? .cellular : .wired }
    }

    private let up: UInt32 = 0x41

    @Test func upRouteWithTheLowestMetricCounts() {
        let links = link(1, "lo", flags: 0x49) + link(2, "eth0", flags: up) + link(3, "wlan0", flags: up)
        #expect(status(links).link == .none)
        #expect(status(links, route(3, metric: 600)) == NetworkStatus(.wifi, identity: "192.0.2.1 on wlan0"))
        #expect(status(links, route(3, metric: 600), route(2, metric: 100)).link == .wired)
        #expect(status(links, route(1, metric: 0)).link == .none)
    }

    @Test func onlyDefaultRoutesOfUpLinksCount() {
        #expect(status(link(2, "eth0", flags: 0x1), route(2, metric: 1)).link == .none)
        let isUp = link(2, "eth0", flags: up)
        #expect(status(isUp, route(2, metric: 1, length: 8)).link == .none)
        #expect(status(isUp, route(2, metric: 1, type: 7)).link == .none)
        #expect(status(isUp, route(2, metric: 1, table: 255)).link == .none)
        #expect(status(isUp, route(9, metric: 1)).link == .none)
    }

    @Test func aMobileLinkIsExpensive() {
        let gateway: [UInt8] = [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1]
        let found = status(link(4, "wwan0", flags: up), route(4, metric: 1, gateway: gateway))
        #expect(found == NetworkStatus(.cellular, isExpensive: true, identity: "fe80::1 on wwan0"))
    }

    @Test func inconsistentBytesEndTheList() {
        let whole = link(2, "eth0", flags: up) + route(2, metric: 1)
        for seed in 0..<3000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var bytes = Array(whole.prefix(Int.random(in: 0...whole.count, using: &random)))
            for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let found = status(bytes)
            #expect([.none, .wired, .wifi, .cellular].contains(found.link), "seed \(seed)")
        }
    }
}
