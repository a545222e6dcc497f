import Foundation
import NIOSSL
import Runway
import Synchronization
import Testing

@testable import RunwayTransport

/// Against mitmproxy, whose authority the device trusts: `Scripts/interceptor.sh` starts it before nginx and runs these tests.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RUNWAY_INTERCEPTOR_PORT"] != nil), .timeLimit(.minutes(10)))
struct InterceptorTests {
    /// What the script names in the environment.
    private struct Interceptor {
        let port: Int
        let authorityPEM: String
        let serverPort: Int
        let serverAuthorityPEM: String
        let serverPEM: String

        init() throws {
            func value(_ name: String) throws -> String {
                try #require(ProcessInfo.processInfo.environment["RUNWAY_INTERCEPTOR_\(name)"])
            }
            port = try #require(Int(value("PORT")))
            authorityPEM = try String(contentsOfFile: value("CA"), encoding: .utf8)
            serverPort = try #require(Int(value("SERVER_PORT")))
            serverAuthorityPEM = try String(contentsOfFile: value("SERVER_CA"), encoding: .utf8)
            serverPEM = try String(contentsOfFile: value("SERVER_CERTIFICATE"), encoding: .utf8)
        }

        /// A client that trusts the interceptor as the device does.
        func client(
            isEnforced: Bool?, _ report: @escaping @Sendable (PinReport) -> Void
        ) throws -> TrustingClient {
            let pins = [serverPEM, serverAuthorityPEM].map { try? PublicKeyPin(certificatePEM: $0).description }
            let set = try isEnforced.map {
                try PublicKeyPins(host: "localhost", pins: pins.compactMap { $0 }, isEnforced: $0)
            }
            return try TrustingClient(
                TrustPolicy(
                    roots: .certificates(pem: [serverAuthorityPEM, authorityPEM]), pins: set.map { [$0] } ?? [],
                    onPinReport: report))
        }
    }

    private let interceptor = Result { try Interceptor() }

    @Test func withoutAPinTheInterceptorReadsAndResponds() async throws {
        let interceptor = try interceptor.get()
        let response = try await interceptor.client(isEnforced: nil) { _ in }.ask(port: interceptor.port)
        #expect(response.contains("4217"))
    }

    @Test func pinRefusesTheInterceptorAndNotTheServer() async throws {
        let interceptor = try interceptor.get()
        let client = try interceptor.client(isEnforced: true) { _ in }
        #expect(try await client.ask(port: interceptor.serverPort).contains("4217"))
        let error = await #expect(throws: NetworkError.self) { try await client.ask(port: interceptor.port) }
        #expect(error?.kind == .notTrusted && error?.sending == .notSent)
        #expect(error?.detail.contains("none of the keys of its verified certificates is pinned") == true)
    }

    @Test func aPinThatOnlyReportsReportsTheInterceptor() async throws {
        let interceptor = try interceptor.get()
        let stored = Stored()
        let client = try interceptor.client(isEnforced: false) { stored.take($0.outcome) }
        #expect(try await client.ask(port: interceptor.port).contains("4217"))
        #expect(stored.all == [.wouldHaveRefused])
    }

    /// The chain that a device verifies which trusts the interceptor, whatever the transport.
    @Test func decisionRefusesTheChainOfTheInterceptor() async throws {
        let interceptor = try interceptor.get()
        let pins = try [interceptor.serverPEM, interceptor.serverAuthorityPEM].map {
            try PublicKeyPin(certificatePEM: $0).description
        }
        let set = try PublicKeyPins(host: "localhost", pins: pins)
        let decision = try #require(HostPins("localhost", in: [set], at: .now))
        func outcome(_ port: Int, _ authorityPEM: String) async throws -> PinReport.Outcome {
            let script = "openssl s_client -connect localhost:\(port) -servername localhost -showcerts 2>/dev/null"
            let shown = try await NIOSSLCertificate.fromPEMBytes(Tool.run("/bin/sh", ["-c", script], []))
            let root = try NIOSSLCertificate(bytes: Array(authorityPEM.utf8), format: .pem)
            let chain = try (shown + [root]).map { try #require(PublicKeyPin(certificateDER: $0.toDERBytes())) }
            return decision.report(on: chain).outcome
        }
        #expect(try await outcome(interceptor.port, interceptor.authorityPEM) == .refused)
        #expect(try await outcome(interceptor.serverPort, interceptor.serverAuthorityPEM) == .matched)
    }

    private final class Stored: Sendable {
        /// Guards what was reported.
        private let state = Mutex<[PinReport.Outcome]>([])
        var all: [PinReport.Outcome] { state.withLock { $0 } }
        func take(_ outcome: PinReport.Outcome) { state.withLock { $0.append(outcome) } }
    }
}
