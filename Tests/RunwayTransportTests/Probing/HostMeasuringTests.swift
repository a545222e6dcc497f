import Foundation
import NIOCore
import NIOPosix
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import Runway
@testable import RunwayTransport

/// Measuring all hosts at a launch, and remembering it at the next one, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct HostMeasuringTests {
    private static let addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    private let status = SettableNetworkStatus(NetworkStatus(.wifi, identity: "10.0.0.1 on en0"))

    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder + "/measurements.json")
    }

    /// A transport of another launch; no resolver knows its host.
    private func launch(
        _ path: String, _ certificate: TestCertificate, addresses: [String] = Self.addresses
    ) throws -> (transport: NIOTransport, book: HostBook) {
        try launch(path, certificate, hosts: [dialHost: addresses])
    }

    private func launch(
        _ path: String, _ certificate: TestCertificate, hosts: [String: [String]]
    ) throws -> (transport: NIOTransport, book: HostBook) {
        let book = HostBook(bundled: try HostList(hosts), measurements: path, status: status)
        var configuration = TransportConfiguration(
            trust: .certificates(pem: [certificate.certificatePEM]), connectTimeout: .seconds(300))
        configuration.hosts = book
        let resolver = HostResolver { host in throw LookupError(host: host, reason: "nobody asks") }
        let dialer = try Dialer(configuration, resolver: resolver)
        return (NIOTransport(configuration: configuration, dialer: dialer), book)
    }

    private func order(_ book: HostBook) -> [String] {
        book.selector.plan(book.addresses(of: dialHost, scheme: "https"), of: dialHost).order.map { "\($0)" }
    }

    @Test func secondLaunchOrdersByTheFirstUnprobed() async throws {
        let certificate = try TestCertificate(for: dialHost)
        let roundTrips = Dictionary(uniqueKeysWithValues: zip(Self.addresses, [900, 450, 10]))
        try await withBadNetwork(3, certificate) { network, origin in
            for path in network.paths {
                let roundTrip = Duration.milliseconds(try #require(roundTrips[path.address]))
                try await path.set(.passing(PathConditions(roundTrip: roundTrip)))
            }
            try await untilUndisturbed {
                status.set(NetworkStatus(.wifi, identity: "10.0.0.1 on en0"))
                var order: [String]?
                try await withFile { path in
                    order = try await orderOfTwoLaunches(path, certificate, roundTrips, network, origin)
                }
                return order == ["127.0.0.4", "127.0.0.3", "127.0.0.2"]
            }
        }
    }

    /// Measures in a first launch, and checks that the second one has its order without a measurement; returns that order. Returns `nil`
    /// if the machine stood still for as long as a measurement may last.
    private func orderOfTwoLaunches(
        _ path: String, _ certificate: TestCertificate, _ roundTrips: [String: Int], _ network: BadNetwork,
        _ origin: ScriptedOrigin
    ) async throws -> [String]? {
        let first = try launch(path, certificate)
        let reports = await first.transport.measureHosts(port: network.port, within: .seconds(120))
        await first.transport.shutdown(waitingAtMost: .zero)
        #expect(reports.map(\.host) == [dialHost])
        let entries = reports.first?.entries ?? []
        let measured = entries.map { "\($0.address)" }
        #expect(measured.sorted() == Self.addresses && entries.allSatisfy { $0.source == .listed })
        if entries.contains(where: { $0.failure != nil }) { return nil }
        for entry in entries {
            // However slow the machine is, no address is faster than the way to it.
            let roundTrip = Duration.milliseconds(try #require(roundTrips["\(entry.address)"]))
            let tls = try #require(entry.tls)
            #expect(tls >= roundTrip)
        }
        let totals = entries.compactMap(\.total)
        #expect(totals.count == 3 && totals == totals.sorted())
        #expect(order(first.book) == measured)

        let connectionCount = origin.connectionCount
        let second = try launch(path, certificate)
        #expect(order(second.book) == measured)
        // All of it was measured of late.
        #expect(await second.transport.measureHosts(port: network.port).isEmpty)
        #expect(origin.connectionCount == connectionCount)
        // What is older than the app wants is measured again.
        let again = await second.transport.measureHosts(port: network.port, olderThan: .zero, within: .seconds(120))
        #expect(again.first?.entries.count == 3)

        status.set(NetworkStatus(.wifi, identity: "10.0.0.1 on en1"))
        #expect(order(try launch(path, certificate).book) == Self.addresses)
        return measured
    }

    @Test func silentAddressEndsWithTheLimit() async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withFile { path in
            try await withBadNetwork(2, certificate) { network, _ in
                for path in network.paths { try await path.set(.silent) }
                let (transport, book) = try launch(path, certificate, addresses: Array(Self.addresses.prefix(2)))
                #expect(await transport.measureHosts(port: network.port, within: .milliseconds(50)).isEmpty)
                #expect(book.measurementsError == nil)
            }
        }
    }

    @Test func manyAddressesAreMeasuredSixteenAtATime() async throws {
        let server = try await HoldingServer()
        let hosts = (1...100).map { ("h\($0).test", [1, 2, 3].map { [number = $0] in "127.1.\(number).\($0)" }) }
        let certificate = try TestCertificate(for: dialHost)
        try await withFile { path in
            let (transport, _) = try launch(path, certificate, hosts: Dictionary(uniqueKeysWithValues: hosts))
            let measuring = Task { await transport.measureHosts(port: server.port, within: .seconds(300)) }
            try await waitUntil { server.most == 16 }
            // A seventeenth connection would come before this one.
            try await server.visit()
            server.release()
            let entries = await measuring.value.flatMap(\.entries)
            #expect(server.most == 16 && entries.count == 256)
            // The first address of every host comes before the second of any.
            let counts = [1, 2, 3].map { last in entries.count { "\($0.address)".hasSuffix(".\(last)") } }
            #expect(counts == [100, 100, 56])
            await transport.shutdown(waitingAtMost: .zero)
        }
        try await server.close()
    }

    @Test func singleAddressIsNotMeasured() async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withFile { path in
            try await withBadNetwork(1, certificate) { network, origin in
                let (transport, _) = try launch(path, certificate, addresses: ["127.0.0.2"])
                #expect(await transport.measureHosts(port: network.port).isEmpty)
                #expect(origin.connectionCount == 0)
            }
        }
    }
}

/// A server on every loopback address that says nothing. It holds its connections until it is released, and closes them from then on.
private final class HoldingServer: Sendable {
    private struct State {
        /// The connections to addresses of lists.
        var open: [ObjectIdentifier: any Channel] = [:]
        var most = 0
        var isReleased = false
        var hasVisitor = false
    }

    let port: Int
    private let channel: any Channel
    /// Guards which connections there are.
    private let state: StateBox

    private final class StateBox: Sendable {
        let value = Mutex(State())
    }

    /// The most connections that were open at a time.
    var most: Int { state.value.withLock { $0.most } }

    init() async throws {
        let state = StateBox()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 512)
            .childChannelInitializer { channel in
                Self.accept(channel, state)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "0.0.0.0", port: 0).get()
        self.state = state
        port = channel.localAddress?.port ?? 0
    }

    private static func accept(_ channel: any Channel, _ state: StateBox) {
        guard channel.localAddress?.ipAddress?.hasPrefix("127.1.") == true else {
            return state.value.withLock { $0.hasVisitor = true }
        }
        let isReleased = state.value.withLock { state in
            state.open[ObjectIdentifier(channel)] = channel
            state.most = max(state.most, state.open.count)
            return state.isReleased
        }
        channel.closeFuture.whenComplete { _ in
            state.value.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        if isReleased { channel.eventLoop.execute { channel.close(promise: nil) } }
    }

    /// Connects to another address, and returns when the server has accepted that connection.
    func visit() async throws {
        let visitor = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.9", port: port).get()
        try await waitUntil { state.value.withLock { $0.hasVisitor } }
        try await visitor.close()
    }

    func release() {
        let open = state.value.withLock { state in
            state.isReleased = true
            return Array(state.open.values)
        }
        for channel in open { channel.close(promise: nil) }
    }

    func close() async throws { try await channel.close() }
}
