import Runway
import RunwayTestServer
import RunwayTransport
import Testing

/// Only a server that proves who it is gets a request.
@Suite(
    .timeLimit(.minutes(10)), .overEveryTransport,
    .exceptSessionOfRealSystem)
struct TrustTests {
    /// The error of a call to an origin with a certificate, none of whose requests may arrive.
    private func failure(
        at certificate: TestCertificate, trusting trust: TransportConfiguration.Trust
    ) async throws -> NetworkError {
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(trust: trust, connectTimeout: .seconds(300)))
            let error = try await network.failure(
                of: Fetch<POST>("a", .bytes([1, 2, 3]), headers: ["Authorization": "secret"]))
            #expect(error.detail.contains("localhost:\(origin.port)"))
            #expect(!error.description.contains("secret"))
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.requestCount == 0)
            #expect(origin.malformedRequests.isEmpty)
            return error
        }
    }

    @Test func trustedCertificateForTheHostGetsTheRequest() async throws {
        let certificate = try TestCertificate()
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.otherwise(respond: .json("{}"))
            let trust = TransportConfiguration.Trust.certificates(pem: [certificate.certificatePEM])
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(trust: trust, connectTimeout: .seconds(300)))
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.first?.serverName == "localhost")
        }
    }

    @Test func anyOfSeveralTrustedCertificatesWillDo() async throws {
        let certificate = try TestCertificate()
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.otherwise(respond: .json("{}"))
            let others = try ["one.example", "two.example"].map { try TestCertificate(for: $0).certificatePEM }
            let trust = TransportConfiguration.Trust.certificates(pem: [
                others.joined(separator: "\n"), certificate.certificatePEM,
            ])
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(trust: trust, connectTimeout: .seconds(300)))
            _ = try await network.call(Fetch<GET>("a"))
        }
    }

    @Test func aSelfSignedCertificateIsNotTrusted() async throws {
        #expect(try await failure(at: TestCertificate(), trusting: .system).kind == .notTrusted)
    }

    @Test func certificateOfAnUnknownAuthorityIsNotTrusted() async throws {
        let other = try TestAuthority("other").pem
        let error = try await failure(at: TestCertificate(), trusting: .certificates(pem: [other]))
        #expect(error.kind == .notTrusted)
        #expect(error.detail.contains("could not prove"))
    }

    @Test func aCertificateForAnotherHostIsNotTrusted() async throws {
        let certificate = try TestCertificate(for: "elsewhere.example")
        let error = try await failure(at: certificate, trusting: .certificates(pem: [certificate.certificatePEM]))
        #expect(error.kind == .notTrusted)
    }

    @Test func anExpiredCertificateIsNotTrusted() async throws {
        let certificate = try TestCertificate(expired: true)
        let error = try await failure(at: certificate, trusting: .certificates(pem: [certificate.certificatePEM]))
        #expect(error.kind == .notTrusted)
    }

    @Test func httpsRefusesAServerWithoutTLS() async throws {
        try await withScriptedOrigin(hostname: "localhost") { origin in
            let network = try NetworkLayer(to: "https://localhost:\(origin.port)")
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .notTrusted)
            #expect(origin.requestCount == 0)
        }
    }

    @Test func tlsAtAnHTTPURLFailsClearly() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            let network = try NetworkLayer(to: "http://localhost:\(origin.port)")
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .noNetwork || error.kind == .invalidResponse)
            #expect(error.detail.contains("localhost:\(origin.port)"))
            #expect(origin.requestCount == 0)
        }
    }

    @Test func connectionCutInHandshakeIsNoTrustError() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            origin.onConnections([.reset])
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.kind == .noNetwork)
        }
    }

    @Test(.except(.urlSession, "the system decides what a body without an end is"))
    func bodyWithoutCloseNotifyOfTLSIsTruncated() async throws {
        let certificate = try TestCertificate()
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.on("/a", respond: .text("as far as an attacker lets it").framed(.untilClose).ending(.closeAbruptly))
            let trust = TransportConfiguration.Trust.certificates(pem: [certificate.certificatePEM])
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(trust: trust, connectTimeout: .seconds(300)))
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .noNetwork)
            #expect(
                error.detail == "The connection to localhost:\(origin.port) was cut off in the middle of the response.")
        }
    }

    @Test(
        .except(.urlSession, "the system's authorities are no part of its configuration"),
        arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func unreadableRootsFailTheInitialiser(pem: String) throws {
        let error = try #require(throws: NetworkError.self) {
            try TransportUnderTest.make(
                TransportConfiguration(trust: .certificates(pem: [pem]), connectTimeout: .seconds(300)))
        }
        #expect(error.kind == .invalidConfiguration)
    }
}
