import Crypto
import NIOSSL
import Runway
import SwiftASN1
import Testing
import X509

@testable import RunwayTransport

/// Servers that are not who they should be see no byte of a request, whatever transport asks them and however.
@Suite(.timeLimit(.minutes(10)))
struct RefusedServerTests {
    /// How a host is asked.
    enum Way: CaseIterable {
        case asyncHTTPClient
        /// Verified by BoringSSL.
        case nio
        /// Verified by swift-certificates, since it has pins.
        case nioWithPins
        /// Through a proxy that speaks CONNECT.
        case nioThroughProxy

        /// Those where the name is compared by this package. NIOSSL, which AsyncHTTPClient leaves that to, would also take a common name
        /// for a host, a wildcard for every name of one label, and a certificate for the address that was dialled.
        static let comparingNames = allCases.filter { $0 != .asyncHTTPClient }
    }

    private func policy(
        _ root: TestAuthority, _ way: Way, pinning server: TestAuthority.Server, host: String = "localhost"
    ) throws -> TrustPolicy {
        var trust = TrustPolicy(roots: .certificates(pem: [try root.pem]))
        if way == .nioWithPins {
            // Pinned to what the server shows: whatever is refused, is not refused by its pin.
            let pems = [try server.leafPEM, try TestAuthority("other").pem]
            let pins = try pems.map { try PublicKeyPin(certificatePEM: $0).description }
            trust.pins = [try PublicKeyPins(host: host, pins: pins)]
        }
        return trust
    }

    /// Runs `body` with a client that asks a server in one way.
    private func withClient(
        _ way: Way, _ trust: TrustPolicy, to running: TLSServer, _ body: (TrustingClient) async throws -> Void
    ) async throws {
        switch way {
        case .asyncHTTPClient: try await body(TrustingClient(overAsyncHTTPClient: trust))
        case .nio, .nioWithPins: try await body(TrustingClient(trust))
        case .nioThroughProxy:
            let tunnel = try await TunnelServer(
                to: running.port, replying: [Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)])
            try await body(TrustingClient(trust, proxy: tunnel.port))
            try await tunnel.close()
        }
    }

    private func expectRefused(
        _ server: TestAuthority.Server, by root: TestAuthority, _ way: Way,
        configure: (inout TLSConfiguration) throws -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let trust = try policy(root, way, pinning: server)
        try await withTLSServer(server, configure: configure) { running in
            try await withClient(way, trust, to: running) { client in
                let detail = try await expectRefusal(of: running, by: client, sourceLocation: sourceLocation)
                #expect(!detail.contains("pinned"), "\(detail)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(arguments: Way.allCases) func aTrustedServerGetsTheRequest(way: Way) async throws {
        let root = try TestAuthority()
        for server in [try root.server(), try root.intermediate().server()] {
            let trust = try policy(root, way, pinning: server)
            try await withTLSServer(server) { running in
                try await withClient(way, trust, to: running) { client in
                    let response = try await client.ask(port: running.port)
                    #expect(response == "served")
                    #expect(running.receivedByteCount > 0)
                }
            }
        }
    }

    @Test(arguments: Way.allCases) func expired(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.server(days: -2 ... -0.01), by: root, way)
    }

    @Test(arguments: Way.allCases) func notYetValid(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.server(days: 0.5...2), by: root, way)
    }

    @Test(arguments: Way.allCases) func forAnotherName(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.server("elsewhere.example"), by: root, way)
        try await expectRefused(root.server("localhost", names: [.dnsName("elsewhere.example")]), by: root, way)
    }

    @Test(arguments: Way.comparingNames) func forEveryNameThereIs(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.server("localhost", names: [.dnsName("*")]), by: root, way)
    }

    @Test(arguments: Way.comparingNames) func withItsNameInTheCommonNameOnly(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.server("localhost", names: []), by: root, way)
        try await expectRefused(root.server("localhost", names: [.rfc822Name("a@localhost")]), by: root, way)
    }

    @Test(arguments: Way.allCases) func ofAnotherRoot(way: Way) async throws {
        try await expectRefused(TestAuthority().server(), by: TestAuthority(), way)
        try await expectRefused(TestAuthority("one").server(), by: TestAuthority("two"), way)
    }

    @Test(arguments: Way.allCases) func selfSigned(way: Way) async throws {
        try await expectRefused(TestAuthority.selfSigned(), by: TestAuthority(), way)
    }

    @Test(arguments: Way.allCases) func byAFakeIntermediate(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.intermediate(fake: true).server(), by: root, way)
    }

    @Test(arguments: Way.allCases) func outsideTheNamesItsAuthorityMaySign(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.intermediate(permitted: "example.com").server(), by: root, way)
    }

    @Test(arguments: Way.allCases) func forClientsAndNotForServers(way: Way) async throws {
        let root = try TestAuthority()
        try await expectRefused(root.server(usage: .clientAuth), by: root, way)
    }

    @Test(arguments: Way.allCases) func withAnOldTLS(way: Way) async throws {
        let root = try TestAuthority()
        let server = try root.server()
        try await expectRefused(server, by: root, way) {
            ($0.minimumTLSVersion, $0.maximumTLSVersion) = (.tlsv1, .tlsv11)
        }
    }

    @Test(arguments: Way.allCases) func tls13AloneWhereThePolicySaysSo(way: Way) async throws {
        let root = try TestAuthority()
        let server = try root.server()
        var trust = try policy(root, way, pinning: server)
        trust.requiresTLS13 = true
        try await withTLSServer(server, configure: { $0.maximumTLSVersion = .tlsv12 }) { running in
            try await withClient(way, trust, to: running) { try await expectRefusal(of: running, by: $0) }
        }
    }

    @Test(arguments: Way.comparingNames)
    func addressCertificateIsNotForTheHost(way: Way) async throws {
        let root = try TestAuthority()
        let address = GeneralName.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))
        try await expectRefused(root.server("localhost", names: [address]), by: root, way)
    }

    @Test(arguments: Way.comparingNames) func anAddressIsVerifiedAsAnAddress(way: Way) async throws {
        let root = try TestAuthority()
        let server = try root.server("x", names: [.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
        try await withTLSServer(server) { running in
            let trust = try policy(root, way, pinning: server, host: "127.0.0.1")
            try await withClient(way, trust, to: running) { client in
                let response = try await client.ask("127.0.0.1", port: running.port)
                #expect(response == "served")
            }
        }
        try await withTLSServer(root.server("localhost")) { running in
            let trust = try policy(root, way, pinning: server, host: "127.0.0.1")
            try await withClient(way, trust, to: running) { client in
                try await expectRefusal(of: running, host: "127.0.0.1", by: client)
            }
        }
    }

    @Test(arguments: [
        ("a.example.com", "*.example.com", true), ("a.example.com", "A.Example.COM.", true),
        ("example.com", "*.example.com", false), ("a.b.example.com", "*.example.com", false), ("localhost", "*", false),
        ("a.example.com", "a*.example.com", false), ("a.example.com", "*.*.com", false), ("a.com", "*.", false),
        ("a.example.com", "*.example.com.evil.example", false), (".example.com", "*.example.com", false),
        ("127.0.0.1", "127.0.0.1", false), ("127.0.0.1", "*.0.0.1", false), ("a", "", false),
    ])
    func namesAreComparedLabelByLabel(host: String, pattern: String, isMatch: Bool) {
        #expect(ServerIdentity(HostPattern.normal(host)).isAmong([.dns(pattern)]) == isMatch)
    }

    @Test func addressesAreComparedByTheirBytes() {
        let long = ServerIdentity("2001:db8:0:0::7")
        #expect(long.isAmong([.address([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7])]))
        #expect(!long.isAmong([.address([127, 0, 0, 1])]) && !long.isAmong([]))
        #expect(ServerIdentity("127.0.0.1").isAddress && !ServerIdentity("a.example").isAddress)
    }
}
