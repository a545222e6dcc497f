import NIOSSL
import Runway
import Testing
import X509

@testable import RunwayTransport

/// Client certificates, and exceptions for developers.
@Suite(.timeLimit(.minutes(10)))
struct ClientTrustTests {
    private let root: TestAuthority
    private let clients: TestAuthority

    init() throws {
        root = try TestAuthority()
        clients = try TestAuthority("clients")
    }

    private func client(_ change: (inout TrustPolicy) throws -> Void) throws -> TrustingClient {
        var trust = TrustPolicy(roots: .certificates(pem: [try root.pem]))
        try change(&trust)
        return try TrustingClient(trust)
    }

    /// A server that wants a certificate of a client.
    private func withStrictServer<Value>(
        configure: (inout TLSConfiguration) -> Void = { _ in }, _ body: (TLSServer) async throws -> Value
    ) async throws -> Value {
        try await withTLSServer(
            root.server(),
            configure: {
                $0.certificateVerification = .noHostnameVerification
                $0.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(try clients.pem.utf8)))
                configure(&$0)
            }, body)
    }

    @Test func serverGetsTheCertificateForItsHost() async throws {
        let own = try clients.server("client", usage: .clientAuth)
        let identity = try ClientIdentity(
            for: "localhost", certificateChainPEM: own.chainPEM, privateKeyPEM: own.keyPEM)
        try await withStrictServer { running in
            let shown = try client { $0.clientIdentities = [identity] }
            let response = try await shown.ask(port: running.port)
            #expect(response == "served")
        }
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13], ["http/1.1", "h2"])
    func aMissingClientCertificateIsNamed(version: TLSVersion, speaking name: String) async throws {
        try await withStrictServer(configure: {
            $0.maximumTLSVersion = version
            $0.applicationProtocols = [name]
        }) { running in
            let detail = try await expectRefusal(of: running, by: client { _ in })
            let reason =
                version == .tlsv13
                ? "requires a client certificate, and received none"
                : "aborted the TLS handshake, as servers do that require a client certificate"
            #expect(detail == "localhost:\(running.port) \(reason).")
            // Another connection would lead to the same.
            #expect(running.connectionCount == 1)
        }
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func aClientCertificateOfAnotherAuthorityIsNamed(version: TLSVersion) async throws {
        let own = try TestAuthority("others").server("client", usage: .clientAuth)
        let identity = try ClientIdentity(
            for: "localhost", certificateChainPEM: own.chainPEM, privateKeyPEM: own.keyPEM)
        try await withStrictServer(configure: { $0.maximumTLSVersion = version }) { running in
            let detail = try await expectRefusal(of: running, by: client { $0.clientIdentities = [identity] })
            #expect(
                detail == "localhost:\(running.port) refuses the client certificate: it does not know its authority.")
            #expect(running.connectionCount == 1)
        }
    }

    @Test func hostIsNotShownTheIdentityForAnother() async throws {
        let own = try clients.server("client", usage: .clientAuth)
        let identity = try ClientIdentity(
            for: "example.com", includesSubdomains: true, certificateChainPEM: own.chainPEM, privateKeyPEM: own.keyPEM)
        try await withStrictServer { running in
            let detail = try await expectRefusal(of: running, by: client { $0.clientIdentities = [identity] })
            #expect(detail.hasSuffix("requires a client certificate, and received none."))
        }
    }

    @Test func anIdentityIsReadFromPKCS12() async throws {
        let own = try clients.server("client", usage: .clientAuth)
        let bundle = NIOSSLPKCS12Bundle(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(own.chainPEM.utf8)),
            privateKey: try NIOSSLPrivateKey(bytes: Array(own.keyPEM.utf8), format: .pem))
        let bytes = try bundle.serialize(passphrase: Array("secret".utf8))
        let identity = try ClientIdentity(for: "localhost", pkcs12: bytes, passphrase: "secret")
        #expect(!"\(identity)".contains("BEGIN"))
        try await withStrictServer { running in
            let trusting = try client { $0.clientIdentities = [identity] }
            let response = try await trusting.ask(port: running.port)
            #expect(response == "served")
        }
        #expect(throws: NetworkError.self) { try ClientIdentity(for: "a", pkcs12: bytes, passphrase: "wrong") }
        #expect(throws: NetworkError.self) { try ClientIdentity(for: "a", pkcs12: [1, 2, 3], passphrase: "") }
    }

    @Test func identitiesThatCannotBeReadAreReported() throws {
        #expect(throws: NetworkError.self) {
            try ClientIdentity(for: "a", certificateChainPEM: "no", privateKeyPEM: "no")
        }
        // A key that is another's.
        let (one, two) = (try clients.server("one"), try clients.server("two"))
        let error = #expect(throws: NetworkError.self) {
            try ClientIdentity(for: "a", certificateChainPEM: one.chainPEM, privateKeyPEM: two.keyPEM)
        }
        #expect(error?.kind == .invalidConfiguration)
    }

    @Test func rootsThatCannotBeReadAreReported() {
        for pem in ["", "no", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let error = #expect(throws: NetworkError.self) {
                try TrustingClient(TrustPolicy(roots: .certificates(pem: [pem])))
            }
            #expect(error?.kind == .invalidConfiguration)
        }
    }

    @Test func exceptionIsForOneCertificateOfOneHost() async throws {
        let own = try TestAuthority.selfSigned("other name")
        let exception = DevelopmentException.trusting(certificatePEM: try own.leafPEM, of: "localhost")
        let trusting = try client { $0.developmentExceptions = [exception] }
        try await withTLSServer(own) { running in
            let response = try await trusting.ask(port: running.port)
            #expect(response == "served")
            let error = await #expect(throws: NetworkError.self) {
                try await trusting.ask("elsewhere.example", port: running.port)
            }
            #expect(error?.kind == .notTrusted)
        }
        try await withTLSServer(root.server()) { running in
            try await expectRefusal(of: running, by: trusting)
        }
    }

    @Test func anExceptionFromVerificationIsForItsHost() async throws {
        let trusting = try client { $0.developmentExceptions = [.skippingVerification(of: "LocalHost")] }
        try await withTLSServer(TestAuthority.selfSigned("anything")) { running in
            let response = try await trusting.ask(port: running.port)
            #expect(response == "served")
            let error = await #expect(throws: NetworkError.self) {
                try await trusting.ask("elsewhere.example", port: running.port)
            }
            #expect(error?.kind == .notTrusted)
        }
    }

    @Test func aReleaseBuildRefusesExceptions() throws {
        let trust = TrustPolicy(developmentExceptions: [.skippingVerification(of: "localhost")])
        let error = #expect(throws: NetworkError.self) {
            try TrustMaterial(trust, isReleaseBuild: true)
        }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.detail.contains("localhost") == true)
    }
}
