import Crypto
import NIOSSL
import Runway
import SwiftASN1
import Testing
import X509

@testable import RunwayTransport

/// Servers that are not who they should be see no byte of a request, whether the host has pins or not.
@Suite(.timeLimit(.minutes(5)))
struct RefusedServerTests {
    /// How a host is verified: by BoringSSL, or by swift-certificates since it has pins.
    enum Way: CaseIterable { case plain, pinned }

    private func policy(_ root: TestAuthority, _ way: Way, pinning server: TestAuthority.Server) throws -> TLSPolicy {
        var trust = TrustPolicy(roots: .certificates(pem: [try root.pem]))
        if way == .pinned {
            // Pinned to what the server shows: whatever is refused, is not refused by its pin.
            let other = try TestAuthority("other").pem
            trust.pins = [
                try PublicKeyPins(
                    host: "localhost",
                    pins: [
                        PublicKeyPin(certificatePEM: server.leafPEM).description,
                        PublicKeyPin(certificatePEM: other).description,
                    ])
            ]
        }
        return try TLSPolicy(trust, applicationProtocols: [])
    }

    private func expectRefused(
        _ server: TestAuthority.Server, by root: TestAuthority, _ way: Way,
        configure: (inout TLSConfiguration) throws -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let policy = try policy(root, way, pinning: server)
        try await withTLSServer(server, configure: configure) { running in
            let error = await #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
                try await policy.ask(port: running.port)
            }
            #expect(running.receivedByteCount == 0, sourceLocation: sourceLocation)
            let told = NetworkError(transport: try #require(error), from: "localhost")
            #expect(told.kind == .notTrusted && told.sending == .notSent, "\(told)", sourceLocation: sourceLocation)
            if way == .pinned {
                #expect(!told.detail.contains("pinned"), "\(told.detail)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(arguments: Way.allCases) func aGoodServerIsAsked(way: Way) async throws {
        let root = try TestAuthority()
        for server in [try root.server(), try root.intermediate().server()] {
            let policy = try policy(root, way, pinning: server)
            try await withTLSServer(server) { running in
                let answer = try await policy.ask(port: running.port)
                #expect(answer == "served")
                #expect(running.receivedByteCount > 0)
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
        try await expectRefused(root.server("localhost", names: [.dnsName("*")]), by: root, way)
    }

    @Test(arguments: Way.allCases) func withItsNameInTheCommonNameOnly(way: Way) async throws {
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

    @Test(arguments: Way.allCases) func outsideTheNamesThatItsAuthorityMaySignFor(way: Way) async throws {
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

    @Test func tls13AloneWhereThePolicySaysSo() async throws {
        let root = try TestAuthority()
        let trust = TrustPolicy(roots: .certificates(pem: [try root.pem]), minimumVersion: .tls13)
        let policy = try TLSPolicy(trust, applicationProtocols: [])
        try await withTLSServer(root.server(), configure: { $0.maximumTLSVersion = .tlsv12 }) { running in
            await #expect(throws: (any Error).self) { try await policy.ask(port: running.port) }
            #expect(running.receivedByteCount == 0)
        }
    }

    @Test(arguments: Way.allCases) func aCertificateForTheAddressThatWasDialledIsNotOneForTheHost(way: Way) async throws
    {
        let root = try TestAuthority()
        let address = GeneralName.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))
        try await expectRefused(root.server("localhost", names: [address]), by: root, way)
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

    @Test(arguments: Way.allCases) func anAddressIsVerifiedAsAnAddress(way: Way) async throws {
        let root = try TestAuthority()
        let server = try root.server("x", names: [.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
        var trust = TrustPolicy(roots: .certificates(pem: [try root.pem]))
        if way == .pinned {
            let pins = try [try server.leafPEM, try root.pem].map { try PublicKeyPin(certificatePEM: $0).description }
            trust.pins = [try PublicKeyPins(host: "127.0.0.1", pins: pins)]
        }
        let policy = try TLSPolicy(trust, applicationProtocols: [])
        try await withTLSServer(server) { running in
            let answer = try await policy.ask("127.0.0.1", port: running.port)
            #expect(answer == "served")
            await #expect(throws: (any Error).self) { try await policy.ask("localhost", port: running.port) }
        }
        try await withTLSServer(root.server("localhost")) { running in
            await #expect(throws: (any Error).self) { try await policy.ask("127.0.0.1", port: running.port) }
            #expect(running.receivedByteCount == 0)
        }
    }
}
