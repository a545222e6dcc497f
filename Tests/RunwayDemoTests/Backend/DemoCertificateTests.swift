import AsyncHTTPClient
import Foundation
import NIOSSL
import SwiftASN1
import Testing
import X509

@testable import RunwayDemo

@Suite(.timeLimit(.minutes(10))) struct DemoCertificateTests {
    @Test(arguments: ["127.0.0.1", "localhost"])
    func theAuthorityVouchesForTheServer(host: String) async throws {
        let backend = try ListingsBackend()
        try await withListingsBackend(backend) { serving in
            let status = try await status(
                of: "https://\(host):\(serving.port)", trusting: backend.certificate?.authorityDER)
            #expect(status == 200)
        }
    }

    @Test func thePEMIsTheSameAuthority() throws {
        let certificate = try DemoCertificate()
        let fromPEM = try NIOSSLCertificate.fromPEMBytes(Array(certificate.authorityPEM.utf8))
        #expect(fromPEM == [try NIOSSLCertificate(bytes: certificate.authorityDER, format: .der)])
    }

    @Test func noOtherAuthorityVouchesForTheServer() async throws {
        let another = try DemoCertificate().authorityDER
        try await withListingsBackend(ListingsBackend()) { serving in
            for authority in [another, nil] {
                await expectUntrusted {
                    try await status(of: "https://127.0.0.1:\(serving.port)", trusting: authority)
                }
            }
        }
    }

    @Test(arguments: [
        ("localhost", 0.0, true), ("elsewhere.example", 0, false),
        ("localhost", 23, true), ("localhost", 25, false), ("localhost", -2, false),
    ])
    func certificateIsForThisMachineAndADay(host: String, hoursLater: Double, isValid: Bool) async throws {
        let certificate = try DemoCertificate(now: Date().addingTimeInterval(-hoursLater * 3600))
        let authority = try Certificate(derEncoded: certificate.authorityDER)
        var verifier = Verifier(rootCertificates: CertificateStore([authority])) {
            RFC5280Policy()
            ServerIdentityPolicy(serverHostname: host, serverIP: nil)
        }
        let result = await verifier.validate(
            leaf: try Certificate(derEncoded: certificate.serverDER), intermediates: CertificateStore([]))
        let isValidated = if case .validCertificate = result { true } else { false }
        #expect(isValidated == isValid)
    }

    /// Expects that the handshake of `operation` fails because of the certificate, not for any other reason.
    private func expectUntrusted(_ operation: () async throws -> Int) async {
        do {
            let status = try await operation()
            Issue.record("the server was trusted and responded \(status)")
        } catch {
            let reason = String(describing: error)
            #expect(reason.contains("CERTIFICATE_VERIFY_FAILED") || reason.contains("validateHostname"), "\(reason)")
        }
    }

    private func status(of url: String, trusting authorityDER: [UInt8]?) async throws -> Int {
        let configuration = try BackendClient.configuration(trusting: authorityDER)
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await BackendClient(client: client, baseURL: url).get("/zf/list").status
        }
    }
}
