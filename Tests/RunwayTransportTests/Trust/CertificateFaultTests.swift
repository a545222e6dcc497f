import Foundation
import Runway
import Testing
import X509

@testable import RunwayTransport

/// The error for an untrusted certificate, whether BoringSSL or swift-certificates verified it.
@Suite(.timeLimit(.minutes(10)))
struct CertificateFaultTests {
    enum Verification: CaseIterable { case ofSystem, withPins }

    /// The reason for which a server is refused.
    private func reason(
        _ server: TestAuthority.Server, by root: TestAuthority, _ verification: Verification
    ) async throws -> String {
        var trust = TrustPolicy(roots: .certificates(pem: [try root.pem]))
        if verification == .withPins {
            let pems = [try server.leafPEM, try TestAuthority("other").pem]
            let pins = try pems.map { try PublicKeyPin(certificatePEM: $0).description }
            trust.pins = [try PublicKeyPins(host: "localhost", pins: pins)]
        }
        return try await withTLSServer(server) { running in
            let detail = try await expectRefusal(of: running, by: TrustingClient(trust))
            let start = "localhost:\(running.port) could not prove over TLS that it is the host that was asked for: "
            #expect(detail.hasPrefix(start), "\(detail)")
            return String(detail.dropFirst(start.count))
        }
    }

    @Test(arguments: Verification.allCases)
    func errorNamesTheExpiryDate(verification: Verification) async throws {
        let root = try TestAuthority()
        let server = try root.server(days: -2 ... -1)
        let date = server.chain[0].notValidAfter.formatted(.iso8601)
        #expect(try await reason(server, by: root, verification) == "its certificate expired on \(date).")
    }

    @Test(arguments: Verification.allCases)
    func errorNamesTheStartDate(verification: Verification) async throws {
        let root = try TestAuthority()
        let server = try root.server(days: 1...2)
        let date = server.chain[0].notValidBefore.formatted(.iso8601)
        #expect(try await reason(server, by: root, verification) == "its certificate is not valid before \(date).")
    }

    @Test(arguments: Verification.allCases)
    func selfSignedCertificateIsReportedAsSuch(verification: Verification) async throws {
        let server = try TestAuthority.selfSigned()
        #expect(try await reason(server, by: TestAuthority(), verification) == "its certificate is self-signed.")
    }

    @Test(arguments: Verification.allCases)
    func errorNamesTheUnknownAuthority(verification: Verification) async throws {
        let stranger = try TestAuthority("stranger")
        #expect(
            try await reason(stranger.server(), by: TestAuthority(), verification)
                == sentence(of: "CN=stranger", verification))
        let below = try await reason(stranger.intermediate().server(), by: TestAuthority(), verification)
        // NIOSSL passes on the server's own certificate alone of those that BoringSSL refused.
        let name = verification == .withPins ? "CN=stranger" : "CN=intermediate"
        #expect(below == sentence(of: name, verification))
    }

    private func sentence(of issuer: String, _ verification: Verification) -> String {
        "its certificate was issued by \"\(issuer)\", "
            + (verification == .withPins
                ? "which leads to no trusted authority."
                : "from which no valid path leads to a trusted authority: it is unknown, or the certificate of an "
                    + "authority in between is missing or has expired.")
    }

    @Test(arguments: Verification.allCases)
    func expiredIntermediateIsNotCalledAnUnknownAuthority(verification: Verification) async throws {
        let root = try TestAuthority()
        let intermediate = try root.intermediate(days: -2 ... -1)
        let server = try intermediate.server()
        let date = server.chain[1].notValidAfter.formatted(.iso8601)
        let expected =
            verification == .withPins
            ? "the certificate of its authority \"CN=intermediate\" expired on \(date)."
            : sentence(of: "CN=intermediate", verification)
        #expect(try await reason(server, by: root, verification) == expected)
    }

    @Test(arguments: Verification.allCases)
    func clientCertificateIsReportedAsSuch(verification: Verification) async throws {
        let root = try TestAuthority()
        let sentence = "its certificate is not for servers."
        #expect(try await reason(root.server(usage: .clientAuth), by: root, verification) == sentence)
    }

    @Test(arguments: Verification.allCases)
    func hostMismatchIsReportedAsSuch(verification: Verification) async throws {
        let root = try TestAuthority()
        let server = try root.server(names: [.dnsName("elsewhere.example")])
        let sentence = "its certificate does not name the host in its subject alternative names."
        #expect(try await reason(server, by: root, verification) == sentence)
    }
}
