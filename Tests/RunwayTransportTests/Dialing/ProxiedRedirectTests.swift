import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// What authenticates a call stays with its origin behind a proxy, too, and what authenticates to the proxy stays with the proxy.
@Suite(.timeLimit(.minutes(10)))
struct ProxiedRedirectTests {
    private static let host = "dial.test"
    private static let credentials = [
        "Authorization": "Bearer hunter2", "Cookie": "a=hunter2", "X-Own": "hunter2", "Accept": "text/plain",
    ]
    /// What a proxy says that wants credentials.
    private static let replies: [ProxyServer.Kind: [[UInt8]]] = [
        .http: [Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)],
        .socks5: [[5, 2], [1, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]],
    ]

    /// What a tunnel is opened for: an HTTP proxy forwards plain HTTP itself.
    private static let ways: [(scheme: String, kind: ProxyServer.Kind)] = [
        ("https", .http), ("https", .socks5), ("http", .socks5),
    ]

    @Test(arguments: [Redaction.default, .none], ways)
    func secretsReachNeitherTheProxyNorAnotherOrigin(
        _ redaction: Redaction, _ way: (scheme: String, kind: ProxyServer.Kind)
    ) async throws {
        let (scheme, kind) = way
        let certificate = try TestCertificate(for: Self.host)
        let replies = try #require(Self.replies[kind])
        try await withScriptedOrigin(tls: scheme == "https" ? certificate.tls : nil) { origin in
            // The tunnel leads to one server, whatever its target is; the port distinguishes the origins.
            let home = "\(scheme)://\(Self.host):7001"
            origin.on("/a", respond: .redirect(to: "\(scheme)://\(Self.host):7002/b", status: .temporaryRedirect))
            origin.on("/b", respond: .redirect(to: "\(home)/c", status: .temporaryRedirect))
            origin.on("/c", respond: .text("back"))
            let tunnel = try await TunnelServer(to: origin.port, replying: replies)
            let network = NetworkLayer(
                transport: try transport(through: tunnel.port, kind, trusting: certificate), redaction: redaction,
                limits: LayerLimits(admission: .none, retrying: .none))
            network.configure(TestService.self) { settings in
                settings.baseURLs = [.release: home]
                settings.allowsPlainHTTP = true
            }
            #expect(try await network.call(Fetch<GET>("a", headers: Self.credentials)).text == "back")

            let requests = origin.requests
            #expect(requests.map { $0["host"] } == ["dial.test:7001", "dial.test:7002", "dial.test:7001"])
            #expect(requests[0]["authorization"] == "Bearer hunter2")
            for request in requests {
                let head = String(decoding: request.head, as: UTF8.self)
                #expect(head.contains("hunter2") == (request.path == "/a"), "\(head)")
                #expect(!head.lowercased().contains("proxy-"), "\(head)")
                #expect(request["accept"] == "text/plain")
            }
            // The proxy reads its own credentials and the host's name, once for each of the two origins.
            for connection in 1...2 {
                var heard: [UInt8] = []
                for _ in replies { heard += await tunnel.nextRequest() }
                #expect(heard == Self.request(kind, port: 7000 + connection))
            }
            try await tunnel.close()
        }
    }

    private func transport(
        through port: Int, _ kind: ProxyServer.Kind, trusting certificate: TestCertificate
    ) throws -> NIOTransport {
        let server = ProxyServer(
            kind, host: "127.0.0.1", port: port, credentials: ProxyServer.Credentials(name: "ann", password: "bob"))
        var configuration = TransportConfiguration(
            trust: .certificates(pem: [certificate.certificatePEM]), connectTimeout: .seconds(300))
        configuration.proxies = ProxySettings(https: server, http: server)
        return try NIOTransport(configuration: configuration)
    }

    /// Everything that a proxy receives before it passes bytes on.
    private static func request(_ kind: ProxyServer.Kind, port: Int) -> [UInt8] {
        switch kind {
        case .http:
            let lines = [
                "CONNECT \(host):\(port) HTTP/1.1", "Host: \(host):\(port)", "Proxy-Authorization: Basic YW5uOmJvYg==",
            ]
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        case .socks5:
            let place = [UInt8(host.utf8.count)] + Array(host.utf8) + [UInt8(port >> 8), UInt8(port & 0xFF)]
            return [5, 2, 0, 2, 1, 3] + Array("ann".utf8) + [3] + Array("bob".utf8) + [5, 1, 0, 3] + place
        }
    }
}
