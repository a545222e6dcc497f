import Foundation
import NIOCore
import RunwayTestServer
import RunwayTesting
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
        let book = HostBook(bundled: try HostList([dialHost: addresses]), measurements: path, status: status)
        var configuration = TransportConfiguration(trust: .certificates(pem: [certificate.certificatePEM]))
        configuration.hosts = book
        let resolver = HostResolver { host in throw LookupError(host: host, reason: "nobody asks") }
        let dialer = try Dialer(configuration, resolver: resolver)
        return (NIOTransport(configuration: configuration, dialer: dialer), book)
    }

    private func order(_ book: HostBook) -> [String] {
        book.selector.plan(book.addresses(of: dialHost, scheme: "https"), of: dialHost).order.map { "\($0)" }
    }

    @Test func secondLaunchOrdersByTheFirstWithoutAProbe() async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withFile { path in
            try await withBadNetwork(3, certificate) { network, origin in
                for (path, time) in zip(network.paths, [900, 450, 10]) {
                    try await path.set(.passing(PathConditions(roundTrip: .milliseconds(time))))
                }
                let first = try launch(path, certificate)
                let reports = await first.transport.measureHosts(port: network.port, within: .seconds(120))
                #expect(reports.map(\.host) == [dialHost])
                #expect(reports.first?.entries.allSatisfy { $0.failure == nil && $0.source == .listed } == true)
                let expected = ["127.0.0.4", "127.0.0.3", "127.0.0.2"]
                #expect(reports.first?.entries.map { "\($0.address)" } == expected)
                #expect(order(first.book) == expected)
                await first.transport.shutdown(.cutting)

                let connectionCount = origin.connectionCount
                let second = try launch(path, certificate)
                #expect(order(second.book) == expected)
                // All of it was measured of late.
                #expect(await second.transport.measureHosts(port: network.port).isEmpty)
                #expect(origin.connectionCount == connectionCount)
                // What is older than the app wants is measured again.
                let again = await second.transport.measureHosts(
                    port: network.port, olderThan: .zero, within: .seconds(120))
                #expect(again.first?.entries.count == 3)

                status.set(NetworkStatus(.wifi, identity: "10.0.0.1 on en1"))
                #expect(order(try launch(path, certificate).book) == Self.addresses)
            }
        }
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
