import Crypto
import Foundation
import NIOSSL
import Runway
import RunwayTesting
import SwiftASN1
import Synchronization
import Testing
import X509

@testable import RunwayTransport

/// A host with pins is asked only over a chain that has one of its keys.
@Suite(.timeLimit(.minutes(10)))
struct PinTests {
    /// Collects the reports of pins.
    private final class Reports: Sendable {
        /// Guards the reports.
        private let state = Mutex<[PinReport]>([])
        var all: [PinReport] { state.withLock { $0 } }
        func take(_ report: PinReport) { state.withLock { $0.append(report) } }
    }

    private let root: TestAuthority
    private let server: TestAuthority.Server
    private let backup: PublicKeyPin
    private let stranger: PublicKeyPin
    private let reports = Reports()

    init() throws {
        root = try TestAuthority()
        server = try root.intermediate().server()
        backup = try PublicKeyPin(certificatePEM: TestAuthority("backup").pem)
        stranger = try PublicKeyPin(certificatePEM: TestAuthority("stranger").pem)
    }

    private func pin(_ certificate: Certificate) throws -> PublicKeyPin {
        try PublicKeyPin(certificatePEM: certificate.serializeAsPEM().pemString)
    }

    /// Asks the server over a transport with these pins.
    private func client(_ sets: [PublicKeyPins], clock: LayerClock = .system) throws -> TrustingClient {
        let reports = reports
        let trust = TrustPolicy(roots: .certificates(pem: [try root.pem]), pins: sets) { reports.take($0) }
        return try TrustingClient(trust, clock: clock)
    }

    private func expectServed(
        _ sets: [PublicKeyPins], _ server: TestAuthority.Server? = nil, clock: LayerClock = .system,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withTLSServer(server ?? self.server) { running in
            let response = try await client(sets, clock: clock).ask(port: running.port)
            #expect(response == "served", sourceLocation: sourceLocation)
        }
    }

    /// - Returns: Why it was refused.
    @discardableResult
    private func expectRefused(
        _ sets: [PublicKeyPins], _ server: TestAuthority.Server? = nil, clock: LayerClock = .system,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        try await withTLSServer(server ?? self.server) { running in
            try await expectRefusal(of: running, by: client(sets, clock: clock), sourceLocation: sourceLocation)
        }
    }

    private func set(
        _ pins: PublicKeyPin..., host: String = "localhost", subdomains: Bool = false, expiry: Date? = nil,
        isEnforced: Bool = true
    ) throws -> PublicKeyPins {
        try PublicKeyPins(
            host: host, includesSubdomains: subdomains, pins: pins.map(\.description), expiry: expiry,
            isEnforced: isEnforced)
    }

    @Test(arguments: 0...2) func anyKeyOfTheVerifiedChainWillDo(index: Int) async throws {
        let chain = server.chain + [root.certificate]
        try await expectServed([set(backup, pin(chain[index]))])
        #expect(reports.all.map(\.outcome) == [.matched])
        #expect(try reports.all.first?.chain == chain.map(pin))
    }

    @Test func unpinnedChainIsRefusedBeforeAnyRequest() async throws {
        let detail = try await expectRefused([set(backup, stranger)])
        #expect(detail.contains("none of the keys of its verified certificates is pinned"), "\(detail)")
        #expect(reports.all.map(\.outcome) == [.refused])
        #expect(reports.all.first?.chain.count == 3)
    }

    @Test func wrongKeyUnderTheRightRootIsRefused() async throws {
        try await expectRefused([set(pin(server.chain[0]), backup)], root.intermediate().server())
    }

    @Test func theBackupKeyTakesOver() async throws {
        let key = P256.Signing.PrivateKey()
        let renewed = try root.server(key: key)
        let pins = try set(pin(server.chain[0]), pin(renewed.chain[0]))
        try await expectServed([pins])
        try await expectServed([pins], renewed)
    }

    @Test func pinsIgnoreUnverifiedCertificates() async throws {
        let decoy = try TestAuthority("decoy")
        let shown = TestAuthority.Server(chain: server.chain + [decoy.certificate], key: server.key)
        try await expectRefused([set(pin(decoy.certificate), backup)], shown)
    }

    @Test func aPinMakesNoUntrustedChainTrusted() async throws {
        let other = try TestAuthority("elsewhere").server()
        try await expectRefused([set(pin(other.chain[0]), backup)], other)
        #expect(reports.all.isEmpty)
    }

    @Test func reportOnlyPinsReportAndLetRequestsPass() async throws {
        try await expectServed([set(backup, stranger, isEnforced: false)])
        #expect(reports.all.map(\.outcome) == [.wouldHaveRefused])
    }

    @Test func reportOnlyPinsStillVerify() async throws {
        try await expectRefused([set(backup, stranger, isEnforced: false)], TestAuthority("elsewhere").server())
    }

    @Test func expiredPinsAreReportedAndNotEnforced() async throws {
        let now = Date()
        let clock = LayerClock(ManualClock(), wall: { now })
        let expired = try set(backup, stranger, expiry: now)
        try await expectServed([expired], clock: clock)
        #expect(reports.all == [PinReport(host: "localhost", outcome: .expired, chain: [])])
        // One that has not expired is enforced all the same.
        try await expectRefused([expired, set(backup, stranger, expiry: now.addingTimeInterval(1))], clock: clock)
    }

    @Test func expiredPinsLeaveTheOrdinaryVerificationInPlace() async throws {
        let expired = try set(backup, stranger, expiry: Date(timeIntervalSince1970: 0))
        try await expectRefused([expired], TestAuthority("elsewhere").server())
    }

    @Test func pinsCoverSubdomainsOnlyIfStated() throws {
        let exact = try set(backup, stranger, host: "Example.COM.")
        #expect(exact.areFor("example.com") && exact.areFor("EXAMPLE.com."))
        #expect(!exact.areFor("api.example.com") && !exact.areFor("badexample.com") && !exact.areFor("com"))
        let wide = try set(backup, stranger, host: "example.com", subdomains: true)
        #expect(wide.areFor("example.com") && wide.areFor("a.b.example.com") && !wide.areFor("badexample.com"))
    }

    @Test func domainsPinsRefuseForTheHostsBelow() async throws {
        let below = try root.server("api.example.com")
        let wide = try client([set(backup, stranger, host: "example.com", subdomains: true)])
        try await withTLSServer(below) { running in
            try await expectRefusal(of: running, host: "api.example.com", by: wide)
        }
        let exact = try client([set(backup, stranger, host: "example.com")])
        try await withTLSServer(below) { running in
            let response = try await exact.ask("api.example.com", port: running.port)
            #expect(response == "served")
        }
    }

    @Test func hostsWithoutPinsIgnoreThoseOfOthers() async throws {
        try await expectServed([set(backup, stranger, host: "example.com")])
        #expect(reports.all.isEmpty)
    }

    @Test func hostsPinSetsMustAllBeMet() async throws {
        try await expectRefused([set(pin(root.certificate), backup), set(backup, stranger)])
    }

    @Test func pinsApplyThroughAProxy() async throws {
        try await withTLSServer(server) { running in
            let tunnel = try await TunnelServer(
                to: running.port, replying: [Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)])
            let trust = TrustPolicy(roots: .certificates(pem: [try root.pem]), pins: [try set(backup, stranger)])
            try await expectRefusal(of: running, by: TrustingClient(trust, proxy: tunnel.port))
            try await tunnel.close()
        }
    }

    @Test func aProbeIsHeldToThePinsToo() async throws {
        var configuration = TransportConfiguration(
            trust: .certificates(pem: [try root.pem]), connectTimeout: .seconds(300))
        configuration.trustPolicy.pins = [try set(backup, stranger)]
        try await withTLSServer(server) { running in
            let probe = try HostProbe(configuration: configuration, timeout: .seconds(60))
            let report = try await probe.run("localhost", port: running.port)
            let entry = try #require(report.entries.first { "\($0.address)" == "127.0.0.1" })
            #expect(entry.tls == nil && entry.failure?.contains("is pinned") == true, "\(entry)")
        }
    }

    @Test func transportsThatCannotFollowThePolicyAreRefused() throws {
        let own = try root.server("client", usage: .clientAuth)
        let identity = try ClientIdentity(for: "a", certificateChainPEM: own.chainPEM, privateKeyPEM: own.keyPEM)
        let policies = [
            TrustPolicy(pins: [try set(backup, stranger)]), TrustPolicy(clientIdentities: [identity]),
            TrustPolicy(developmentExceptions: [.skippingVerification(of: "a")]),
        ]
        for policy in policies {
            let error = #expect(throws: NetworkError.self) { try TrustingClient(overAsyncHTTPClient: policy) }
            #expect(error?.kind == .invalidConfiguration)
        }
    }

    @Test(arguments: ["", "sha256/", "sha256/AAAA", "md5/AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!="])
    func malformedPinsAreReportedWhenTheyAreMade(text: String) throws {
        let error = #expect(throws: NetworkError.self) {
            try PublicKeyPins(host: "example.com", pins: [text, backup.description])
        }
        #expect(error?.kind == .invalidConfiguration)
    }

    @Test func pinsWithoutBackupOrHostAreReported() throws {
        for pins in [[], [backup.description], [backup.description, backup.description]] {
            let error = #expect(throws: NetworkError.self) { try PublicKeyPins(host: "example.com", pins: pins) }
            #expect(error?.kind == .invalidConfiguration)
        }
        for host in ["", "*.example.com", "https://example.com", "example.com:443", "exa mple.com", "-a.com", "a..b"] {
            #expect(throws: NetworkError.self) {
                try PublicKeyPins(host: host, pins: [backup.description, stranger.description])
            }
        }
    }

    @Test func pinEqualsTheSHA256ByOpenSSL() async throws {
        let certificate = Array(try server.leafPEM.utf8)
        let script =
            "openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"
        let pin = try await Tool.run("/bin/sh", ["-c", script], certificate)
        let expected = String(decoding: pin, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try self.pin(server.chain[0]).description == "sha256/\(expected)")
        #expect(try PublicKeyPin(expected) == self.pin(server.chain[0]))
        #expect(try PublicKeyPin("sha256//\(expected)") == self.pin(server.chain[0]))
    }
}
