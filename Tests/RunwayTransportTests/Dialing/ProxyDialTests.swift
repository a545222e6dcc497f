import NIOCore
import Runway
import RunwayTestServer
import Testing

@testable import RunwayTransport

/// Dials through proxies, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct ProxyDialTests {
    private func settings(_ kind: ProxyServer.Kind, _ port: Int) -> ProxySettings {
        let server = ProxyServer(kind, host: "127.0.0.1", port: port)
        return ProxySettings(https: server, http: server)
    }

    private func withTunnel(
        _ replies: [[UInt8]], _ kind: ProxyServer.Kind, listed: [String] = [],
        _ body: (TestDialer, TunnelServer, ScriptedOrigin) async throws -> Void
    ) async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            let tunnel = try await TunnelServer(to: origin.port, replying: replies)
            let test = try TestDialer(listed: listed, certificate: certificate, proxies: settings(kind, tunnel.port))
            try await body(test, tunnel, origin)
            try await tunnel.close()
        }
    }

    @Test func connectLeadsToTheProvedHost() async throws {
        try await withTunnel([Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)], .http) { test, tunnel, _ in
            let connection = try await test.dial(port: 443)
            #expect(connection.wire.tlsVersion == "TLSv1.3")
            #expect(connection.report == nil)
            #expect(await String(decoding: tunnel.nextRequest(), as: UTF8.self).hasPrefix("CONNECT dial.test:443 "))
            try await connection.close()
        }
    }

    @Test func socksLeadsToTheProvedHost() async throws {
        try await withTunnel([[5, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]], .socks5) { test, tunnel, _ in
            let connection = try await test.dial(port: 443)
            #expect(connection.wire.tlsVersion == "TLSv1.3")
            #expect(await tunnel.nextRequest() == [5, 1, 0])
            try await connection.close()
        }
    }

    @Test func aProxysRefusalIsReported() async throws {
        try await withTunnel([Array("HTTP/1.1 403 No\r\n\r\n".utf8)], .http) { test, _, origin in
            let error = try await test.failure(port: 443)
            #expect(error.kind == .noNetwork)
            #expect(error.sending == .notSent)
            #expect(error.detail.contains("the proxy does not help: it refuses to connect, with status 403"))
            #expect(origin.requestCount == 0)
        }
    }

    @Test func proxyThatImpersonatesTheHostIsNotTrusted() async throws {
        let impostor = try TestCertificate(for: dialHost)
        try await withScriptedOrigin(tls: impostor.tls) { origin in
            let tunnel = try await TunnelServer(
                to: origin.port, replying: [Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)])
            let test = try TestDialer(proxies: settings(.http, tunnel.port))
            #expect(try await test.failure(port: 443).kind == .notTrusted)
            #expect(origin.requestCount == 0)
            try await tunnel.close()
        }
    }

    @Test(arguments: [("127.0.0.1", 70_000), ("127.0.0.1", 0), ("127.0.0.1", -1), ("127.0.0.1", Int.max), ("", 8080)])
    func proxyWithoutHostOrPortIsInvalid(host: String, port: Int) async throws {
        for kind in [ProxyServer.Kind.http, .socks5] {
            let server = ProxyServer(kind, host: host, port: port)
            let error = try await TestDialer(proxies: ProxySettings(https: server)).failure(port: 443)
            #expect(error.kind == .invalidConfiguration)
            #expect(error.detail.contains("its proxy \(server) has an empty host or an invalid port"))
        }
    }

    @Test func proxyThatIsSilentEndsWithTheDeadline() async throws {
        try await withTunnel([], .http) { test, _, _ in
            let error = try await test.failure(port: 443, within: .milliseconds(200))
            #expect(error.kind == .timedOut)
        }
    }
}
