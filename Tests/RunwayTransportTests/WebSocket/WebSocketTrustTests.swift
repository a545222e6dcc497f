import NIOCore
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Handshakes over TLS, with pins, and through proxies.
@Suite(.timeLimit(.minutes(10)))
struct WebSocketTrustTests {
    private let root: TestAuthority
    private let server: TestAuthority.Server

    init() throws {
        root = try TestAuthority()
        server = try root.intermediate().server()
    }

    private func layer(
        pins: [String]? = nil, trusts authority: TestAuthority? = nil, proxy: Int? = nil, host: String = "localhost",
        to peer: WebSocketPeer, sinks: [any EventSink] = []
    ) throws -> NetworkLayer {
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        configuration.trustPolicy = TrustPolicy(
            roots: .certificates(pem: [try (authority ?? root).pem]),
            pins: try pins.map { [try PublicKeyPins(host: "localhost", pins: $0)] } ?? [])
        if let proxy { configuration.proxies.https = ProxyServer(.http, host: "127.0.0.1", port: proxy) }
        let resolver = HostResolver { _ in [try SocketAddress(ipAddress: "127.0.0.1", port: 0)] }
        let transport = NIOTransport(
            configuration: configuration, dialer: try Dialer(configuration, resolver: resolver))
        return NetworkLayer(to: "https://\(host):\(peer.port)", over: transport, sinks: sinks)
    }

    private func pin(_ authority: TestAuthority) throws -> String {
        try PublicKeyPin(certificatePEM: authority.pem).description
    }

    private func expectRefusal(by network: NetworkLayer, of peer: WebSocketPeer) async throws {
        let error = try await #require(throws: NetworkError.self) { try await network.openChat() }
        #expect(error.kind == .notTrusted && error.sending == .notSent, "\(error)")
        _ = await peer.ends.next()
        #expect(peer.requests.isEmpty)
    }

    @Test func hostIsVerifiedOverTLS() async throws {
        try await withWebSocketPeer(.init(first: [0x81, 1, 0x61]), certificate: server) { peer in
            let records = RecordCollector()
            let network = try layer(to: peer, sinks: [records])
            let chat = try await network.openChat()
            #expect(try await chat.next() == .text("a"))
            chat.close(WebSocketClose(1000))
            let wire = try #require(try await records.records(count: 1).first?.attempts.first?.wire)
            #expect(wire.tlsVersion == "TLSv1.3" && wire.tls != nil && wire.isReused == false)
        }
    }

    @Test func unknownAuthorityIsRefusedBeforeTheRequest() async throws {
        try await withWebSocketPeer(certificate: server) { peer in
            try await expectRefusal(by: layer(trusts: TestAuthority("other"), to: peer), of: peer)
        }
    }

    @Test func pinnedKeyIsAccepted() async throws {
        try await withWebSocketPeer(certificate: server) { peer in
            let network = try layer(pins: [pin(root), pin(TestAuthority("backup"))], to: peer)
            let chat = try await network.openChat()
            chat.close(WebSocketClose(1000))
            #expect(peer.requests.count == 1)
        }
    }

    @Test func otherKeyIsRefusedBeforeTheRequest() async throws {
        try await withWebSocketPeer(certificate: server) { peer in
            let network = try layer(pins: [pin(TestAuthority("stranger")), pin(TestAuthority("backup"))], to: peer)
            try await expectRefusal(by: network, of: peer)
        }
    }

    @Test func proxyLeadsToTheVerifiedHost() async throws {
        // The names of this machine are not asked of proxies.
        let server = try root.server("chat.test")
        try await withWebSocketPeer(.init(first: [0x81, 1, 0x61]), certificate: server) { peer in
            let proxy = try await TunnelServer(to: peer.port, replying: [Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)])
            let chat = try await layer(proxy: proxy.port, host: "chat.test", to: peer).openChat()
            #expect(try await chat.next() == .text("a"))
            let request = String(decoding: await proxy.nextRequest(), as: UTF8.self)
            #expect(request.hasPrefix("CONNECT chat.test:\(peer.port) "))
            chat.close(WebSocketClose(1000))
            try await proxy.close()
        }
    }

    @Test func proxyThatRefusesFailsTheCall() async throws {
        try await withWebSocketPeer(certificate: server) { peer in
            let proxy = try await TunnelServer(to: peer.port, replying: [Array("HTTP/1.1 403 No\r\n\r\n".utf8)])
            let network = try layer(proxy: proxy.port, host: "chat.test", to: peer)
            let error = try await #require(throws: NetworkError.self) { try await network.openChat() }
            #expect(error.kind == .noNetwork && error.sending == .notSent)
            #expect(peer.requests.isEmpty)
            try await proxy.close()
        }
    }
}
