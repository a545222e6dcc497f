import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Plain HTTP through an HTTP proxy, which forwards requests in absolute form (RFC 9112 §3.2.2).
@Suite(.timeLimit(.minutes(10)))
struct ForwardedRequestTests {
    /// A layer whose calls go to `http://api.test` through a proxy.
    private func layer(
        _ baseURL: String = "http://api.test", through proxy: ScriptedOrigin,
        as credentials: ProxyServer.Credentials? = .init(name: "ann", password: "bob")
    ) throws -> NetworkLayer {
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        let server = ProxyServer(.http, host: "127.0.0.1", port: proxy.port, credentials: credentials)
        configuration.proxies = ProxySettings(https: server, http: server)
        let network = NetworkLayer(to: baseURL, over: try NIOTransport(configuration: configuration))
        network.configure(TestService.self) { $0.allowsPlainHTTP = true }
        return network
    }

    @Test func targetIsAbsoluteAndHostTheSame() async throws {
        try await withScriptedOrigin { proxy in
            proxy.otherwise(respond: .text("fine"))
            let hosts = [
                ("api.test", "api.test"), ("api.test:80", "api.test"), ("[2001:db8::1]:81", "[2001:db8::1]:81"),
            ]
            for (host, authority) in hosts {
                let network = try layer("http://\(host)/v1", through: proxy)
                #expect(try await network.call(Fetch<GET>("a b", headers: ["X-Own": "1"])).text == "fine")
                #expect(try await network.call(Fetch<POST>("c", .bytes([1, 2]))).text == "fine")
                let requests = proxy.requests.suffix(2)
                #expect(requests.map(\.target) == ["http://\(authority)/v1/a%20b", "http://\(authority)/v1/c"])
                #expect(requests.allSatisfy { $0["host"] == authority })
                #expect(requests.allSatisfy { $0["proxy-authorization"] == "Basic YW5uOmJvYg==" })
                #expect(requests.last?.body == [1, 2])
                // The second request reuses the connection to the proxy.
                #expect(requests.first?.connection == requests.last?.connection)
            }
        }
    }

    @Test func ownProxyCredentialsAreSentWithoutOthers() async throws {
        try await withScriptedOrigin { proxy in
            proxy.otherwise(respond: .text("fine"))
            let own = Fetch<GET>("a", headers: ["Proxy-Authorization": "Bearer own"])
            _ = try await layer(through: proxy, as: nil).call(own)
            _ = try await layer(through: proxy).call(own)
            let values = proxy.requests.map { request in
                request.fields.filter { $0.name.lowercased() == "proxy-authorization" }.map(\.value)
            }
            #expect(values == [["Bearer own"], ["Basic YW5uOmJvYg=="]])
        }
    }

    @Test func secretsReachNoOtherOriginThroughTheProxy() async throws {
        try await withScriptedOrigin { proxy in
            proxy.on("/a", respond: .redirect(to: "http://other.test/b", status: .temporaryRedirect))
            proxy.on("/b", respond: .redirect(to: "http://api.test/c", status: .temporaryRedirect))
            proxy.on("/c", respond: .text("back"))
            let secrets = ["Authorization": "Bearer hunter2", "Cookie": "a=hunter2"]
            let network = try layer(through: proxy)
            #expect(try await network.call(Fetch<GET>("a", headers: secrets)).text == "back")
            let requests = proxy.requests
            #expect(requests.map(\.target) == ["http://api.test/a", "http://other.test/b", "http://api.test/c"])
            #expect(requests.map { $0["host"] } == ["api.test", "other.test", "api.test"])
            for request in requests {
                #expect(String(decoding: request.head, as: UTF8.self).contains("hunter2") == (request.path == "/a"))
                #expect(request["proxy-authorization"] != nil)
            }
            // A connection carries the requests of one origin.
            #expect(requests[0].connection == requests[2].connection)
            #expect(requests[0].connection != requests[1].connection)
        }
    }

    @Test func refusalOfTheProxyIsAResponse() async throws {
        try await withScriptedOrigin { proxy in
            proxy.otherwise(respond: .text("who?", status: .proxyAuthenticationRequired))
            let error = try await layer(through: proxy, as: nil).failure(of: Fetch<GET>("a"))
            #expect(error.status == .proxyAuthenticationRequired && proxy.requestCount == 1, "\(error)")
        }
    }

    /// The bytes that follow an upgrade are no requests that a proxy could forward.
    @Test func webSocketsOpenATunnel() async throws {
        try await withWebSocketPeer { peer in
            let proxy = try await TunnelServer(to: peer.port, replying: [Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)])
            var configuration = TransportConfiguration(connectTimeout: .seconds(300))
            configuration.proxies.http = ProxyServer(.http, host: "127.0.0.1", port: proxy.port)
            let network = NetworkLayer(
                to: "http://chat.test:7000", over: try NIOTransport(configuration: configuration))
            network.configure(TestService.self) { $0.allowsPlainHTTP = true }
            let chat = try await network.openChat()
            let request = String(decoding: await proxy.nextRequest(), as: UTF8.self)
            #expect(request.hasPrefix("CONNECT chat.test:7000 HTTP/1.1\r\n"))
            #expect(peer.requests.first?.hasPrefix("GET /chat HTTP/1.1\r\n") == true)
            chat.connection.close(WebSocketClose(1000))
            try await proxy.close()
        }
    }

    @Test func unusableProxyFailsOnlyCallsThroughIt() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            var configuration = TransportConfiguration(connectTimeout: .seconds(300))
            configuration.proxies = ProxySettings(environment: ["ALL_PROXY": "socks://127.0.0.1:1"])
            let transport = try NIOTransport(configuration: configuration)
            #expect(try await NetworkLayer(to: origin.baseURL, over: transport).call(Fetch<GET>("a")).text == "fine")
            let far = NetworkLayer(to: "https://api.test", over: transport)
            let error = try await far.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .invalidConfiguration && error.sending == .notSent, "\(error)")
            #expect(error.detail.contains("the variable ALL_PROXY names no proxy that can be used"), "\(error)")
        }
    }
}
