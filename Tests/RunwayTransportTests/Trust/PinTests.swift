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
@Suite(.timeLimit(.minutes(5)))
struct PinTests {
    /// Keeps what pins reported.
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

    private func ask(
        _ sets: [PublicKeyPins], _ server: TestAuthority.Server? = nil, host: String = "localhost",
        clock: LayerClock = .system
    ) async throws -> (answer: Result<String, any Error>, receivedByteCount: Int) {
        let reports = reports
        let trust = TrustPolicy(roots: .certificates(pem: [try root.pem]), pins: sets) { reports.take($0) }
        let policy = try TLSPolicy(trust, applicationProtocols: ["h2", "http/1.1"], clock: clock)
        return try await withTLSServer(server ?? self.server) { running in
            do {
                return (.success(try await policy.ask(host, port: running.port)), running.receivedByteCount)
            } catch {
                return (.failure(error), running.receivedByteCount)
            }
        }
    }

    private func set(
        _ pins: PublicKeyPin..., host: String = "localhost", subdomains: Bool = false, expiry: Date? = nil,
        mode: PublicKeyPins.Mode = .enforced
    ) throws -> PublicKeyPins {
        try PublicKeyPins(
            host: host, includesSubdomains: subdomains, pins: pins.map(\.description), expiry: expiry, mode: mode)
    }

    @Test(arguments: 0...2) func anyKeyOfTheVerifiedChainWillDo(index: Int) async throws {
        let chain = server.chain + [root.certificate]
        let outcome = try await ask([set(backup, pin(chain[index]))])
        #expect(try outcome.answer.get() == "served")
        #expect(reports.all.map(\.outcome) == [.matched])
        #expect(try reports.all.first?.chain == chain.map(pin))
    }

    @Test func aChainWithoutAnyOfTheKeysIsRefusedBeforeARequestByteLeaves() async throws {
        let outcome = try await ask([set(backup, stranger)])
        let error = #expect(throws: TrustRefused.self) { try outcome.answer.get() }
        #expect(outcome.receivedByteCount == 0)
        let told = NetworkError(transport: try #require(error), from: "localhost")
        #expect(told.kind == .notTrusted && told.sending == .notSent)
        #expect(told.detail.contains("none of the keys of its verified certificates is pinned"))
        #expect(reports.all.map(\.outcome) == [.refused])
        #expect(reports.all.first?.chain.count == 3)
    }

    @Test func theWrongKeyUnderTheRightRootIsRefused() async throws {
        let other = try root.intermediate().server()
        let outcome = try await ask([set(pin(server.chain[0]), backup)], other)
        #expect(throws: TrustRefused.self) { try outcome.answer.get() }
        #expect(outcome.receivedByteCount == 0)
    }

    @Test func theBackupKeyTakesOver() async throws {
        let key = P256.Signing.PrivateKey()
        let renewed = try root.server(key: key)
        let pins = try set(pin(server.chain[0]), pin(renewed.chain[0]))
        #expect(try await ask([pins]).answer.get() == "served")
        #expect(try await ask([pins], renewed).answer.get() == "served")
    }

    @Test func aPinnedCertificateThatIsShownButNotInTheVerifiedChainCountsForNothing() async throws {
        let decoy = try TestAuthority("decoy")
        let shown = TestAuthority.Server(chain: server.chain + [decoy.certificate], key: server.key)
        let outcome = try await ask([set(pin(decoy.certificate), backup)], shown)
        #expect(throws: TrustRefused.self) { try outcome.answer.get() }
        #expect(outcome.receivedByteCount == 0)
    }

    @Test func aPinMakesNoUntrustedChainTrusted() async throws {
        let other = try TestAuthority("elsewhere").server()
        let outcome = try await ask([set(pin(other.chain[0]), backup)], other)
        #expect(throws: TrustRefused.self) { try outcome.answer.get() }
        #expect(outcome.receivedByteCount == 0 && reports.all.isEmpty)
    }

    @Test func whatOnlyReportsLetsTheRequestGoAndSaysSo() async throws {
        let outcome = try await ask([set(backup, stranger, mode: .reportOnly)])
        #expect(try outcome.answer.get() == "served")
        #expect(reports.all.map(\.outcome) == [.wouldHaveRefused])
    }

    @Test func whatOnlyReportsStillVerifies() async throws {
        let other = try TestAuthority("elsewhere").server()
        let outcome = try await ask([set(backup, stranger, mode: .reportOnly)], other)
        #expect(throws: TrustRefused.self) { try outcome.answer.get() }
        #expect(outcome.receivedByteCount == 0)
    }

    @Test func pinsThatHaveExpiredAreNotEnforcedAndTheReportSaysSo() async throws {
        let now = Date()
        let clock = LayerClock(ManualClock(), wall: { now })
        let expired = try set(backup, stranger, expiry: now)
        #expect(try await ask([expired], clock: clock).answer.get() == "served")
        #expect(reports.all == [PinReport(host: "localhost", outcome: .expired, chain: [])])
        // One that has not expired is enforced all the same.
        let still = try set(backup, stranger, expiry: now.addingTimeInterval(1))
        let outcome = try await ask([expired, still], clock: clock)
        #expect(throws: TrustRefused.self) { try outcome.answer.get() }
    }

    @Test func expiredPinsLeaveTheOrdinaryVerificationInPlace() async throws {
        let other = try TestAuthority("elsewhere").server()
        let outcome = try await ask([set(backup, stranger, expiry: Date(timeIntervalSince1970: 0))], other)
        #expect(throws: (any Error).self) { try outcome.answer.get() }
        #expect(outcome.receivedByteCount == 0)
    }

    @Test func pinsAreForTheirHostAndForThoseBelowItOnlyIfTheySaySo() throws {
        let exact = try set(backup, stranger, host: "Example.COM.")
        #expect(exact.areFor("example.com") && exact.areFor("EXAMPLE.com."))
        #expect(!exact.areFor("api.example.com") && !exact.areFor("badexample.com") && !exact.areFor("com"))
        let wide = try set(backup, stranger, host: "example.com", subdomains: true)
        #expect(wide.areFor("example.com") && wide.areFor("a.b.example.com") && !wide.areFor("badexample.com"))
    }

    @Test func hostsWithoutPinsAreNotHeldToThoseOfOthers() async throws {
        let outcome = try await ask([set(backup, stranger, host: "example.com")])
        #expect(try outcome.answer.get() == "served")
        #expect(reports.all.isEmpty)
    }

    @Test func eachSetOfAHostHasToBeMet() async throws {
        let met = try set(pin(root.certificate), backup)
        let outcome = try await ask([met, set(backup, stranger)])
        #expect(throws: TrustRefused.self) { try outcome.answer.get() }
    }

    @Test(arguments: ["", "sha256/", "sha256/AAAA", "md5/AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!="])
    func malformedPinsAreReportedWhenTheyAreMade(text: String) throws {
        let error = #expect(throws: NetworkError.self) {
            try PublicKeyPins(host: "example.com", pins: [text, backup.description])
        }
        #expect(error?.kind == .invalidConfiguration)
    }

    @Test func aSetWithoutABackupOrAHostIsReportedWhenItIsMade() throws {
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

    @Test func aPinIsTheSHA256OfTheKeyAsOpenSSLCountsIt() throws {
        let certificate = Array(try server.leafPEM.utf8)
        let script =
            "openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"
        let pin = try Tool.run("/bin/sh", ["-c", script], certificate)
        let expected = String(decoding: pin, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try self.pin(server.chain[0]).description == "sha256/\(expected)")
        #expect(try PublicKeyPin(expected) == self.pin(server.chain[0]))
        #expect(try PublicKeyPin("sha256//\(expected)") == self.pin(server.chain[0]))
    }
}
