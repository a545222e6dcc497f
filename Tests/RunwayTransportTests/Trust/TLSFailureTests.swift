import NIOSSL
import Runway
import Testing

@testable import RunwayTransport

/// The messages of failed handshakes: a sentence, and nothing of the library's sources.
@Suite(.timeLimit(.minutes(10)))
struct TLSFailureTests {
    @Test(
        arguments: [
            (40, "localhost refused the TLS handshake: it shares no version or cipher with the client."),
            (42, "localhost refuses the client for its certificate, or for having none."),
            (44, "localhost refuses the client certificate: it was revoked."),
            (45, "localhost refuses the client certificate: it has expired."),
            (46, "localhost refuses the client for its certificate, or for having none."),
            (48, "localhost refuses the client certificate: it does not know its authority."),
            (49, "localhost refuses the client for its certificate, or for having none."),
            (70, "localhost supports no version of TLS that is allowed here."),
            (80, "TLS with localhost failed: TLSV1_ALERT_INTERNAL_ERROR."),
            (112, "localhost refused the TLS handshake: it knows no host of this name."),
            (116, "localhost requires a client certificate, and received none."),
        ] as [(UInt8, String)])
    func anAlertOfTheServerIsASentence(alert: UInt8, sentence: String) async throws {
        try await withScriptedPeer(ScriptedPeer.Script(replies: [[21, 3, 3, 0, 2, 2, alert]])) { peer in
            let error = try await failure(at: peer.port)
            #expect(error.kind == .notTrusted && error.sending == .notSent, "\(error)")
            #expect(error.detail.replacing("localhost:\(peer.port)", with: "localhost") == sentence)
        }
    }

    @Test func aPlainHTTPPortIsReported() async throws {
        let response = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        try await withScriptedPeer(ScriptedPeer.Script(replies: [response])) { peer in
            let error = try await failure(at: peer.port)
            #expect(error.kind == .notTrusted && error.sending == .notSent, "\(error)")
            #expect(
                error.detail
                    == "The response of localhost:\(peer.port) is not TLS; its port may be one for plain HTTP.")
        }
    }

    @Test func anOldVersionIsNamed() async throws {
        try await withTLSServer(
            TestAuthority().server(),
            configure: { ($0.minimumTLSVersion, $0.maximumTLSVersion) = (.tlsv1, .tlsv11) }
        ) { running in
            let detail = try await expectRefusal(of: running, by: TrustingClient(TrustPolicy()))
            #expect(detail == "localhost:\(running.port) supports no version of TLS that is allowed here.")
        }
    }

    @Test func aMissingSharedCipherIsNamed() async throws {
        try await withTLSServer(
            TestAuthority().server(),
            configure: {
                $0.maximumTLSVersion = .tlsv12
                // It has no RSA key to use this with.
                $0.cipherSuites = "ECDHE-RSA-AES128-GCM-SHA256"
            }
        ) { running in
            let detail = try await expectRefusal(of: running, by: TrustingClient(TrustPolicy()))
            #expect(detail.hasSuffix("refused the TLS handshake: it shares no version or cipher with the client."))
        }
    }

    @Test func anUntrustedCertificateIsNamedWithoutLibraryDetails() async throws {
        let roots = TrustPolicy(roots: .certificates(pem: [try TestAuthority("one").pem]))
        try await withTLSServer(TestAuthority("two").server()) { running in
            let detail = try await expectRefusal(of: running, by: TrustingClient(roots))
            #expect(
                detail == "localhost:\(running.port) could not prove over TLS that it is the host that was asked for: "
                    + "its certificate was issued by \"CN=two\", from which no valid path leads to a trusted authority: "
                    + "it is unknown, or the certificate of an authority in between is missing or has expired.")
        }
    }

    private func failure(at port: Int) async throws -> NetworkError {
        let client = try TrustingClient(TrustPolicy())
        return try await #require(throws: NetworkError.self) { try await client.ask(port: port) }
    }
}
