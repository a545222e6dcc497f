import Foundation
import Runway
import Testing

@testable import RunwayTransport

/// What is said to proxies, and what they may say.
struct ProxyHandshakeTests {
    private let http = ProxyServer(.http, host: "p", port: 1)
    private let socks = ProxyServer(.socks5, host: "p", port: 1)
    private let ada = ProxyServer.Credentials(name: "Ada", password: "Pass")

    private func failure(_ server: ProxyServer, _ said: [UInt8]) -> String {
        var handshake = ProxyHandshake(server, host: "api.example.com", port: 443)
        do {
            _ = try handshake.start()
            return "\(try handshake.receive(said))"
        } catch {
            return "\(error)"
        }
    }

    @Test func connectAsksForTheHostByName() throws {
        var handshake = ProxyHandshake(http, host: "api.example.com", port: 443)
        #expect(
            String(decoding: try handshake.start(), as: UTF8.self)
                == "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n")
        // Byte by byte, after an interim response.
        for byte in "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nVia: x\r\n\r".utf8 {
            #expect(try handshake.receive([byte]) == .wait)
        }
        #expect(try handshake.receive([10]) == .done)
    }

    @Test func connectSendsCredentialsOnlyWhereThereAreSome() throws {
        let server = ProxyServer(.http, host: "p", port: 1, credentials: ada)
        let text = String(decoding: try ProxyHandshake(server, host: "::1", port: 80).start(), as: UTF8.self)
        #expect(text.contains("CONNECT [::1]:80 HTTP/1.1\r\n"))
        #expect(text.contains("Proxy-Authorization: Basic QWRhOlBhc3M=\r\n"))
        #expect(!"\(server)".contains("Pass") && !"\(ada)".contains("Pass"))
    }

    @Test(arguments: [
        ("HTTP/1.1 407 No\r\n\r\n", "wants a name and password"), ("HTTP/1.1 502 Bad\r\n\r\n", "status 502"),
        ("HTTP/1.1 301 Moved\r\nLocation: x\r\n\r\n", "status 301"), ("HTTP/1.1 101 Switching\r\n\r\n", "status 101"),
        ("SSH-2.0-x\r\n\r\n", "not HTTP"), ("HTTP/1.1 2000 OK\r\n\r\n", "not HTTP"),
        ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "before it is asked"),
    ])
    func aProxyThatLiesIsRefused(said: String, reason: String) {
        #expect(failure(http, Array(said.utf8)).contains(reason))
    }

    @Test func aProxyThatNeverStopsIsRefused() {
        #expect(failure(http, Array(repeating: 65, count: 20_000)).contains("more than it may"))
        #expect(failure(socks, Array(repeating: 65, count: 20_000)).contains("more than it may"))
    }

    @Test func socksAsksForTheHostByName() throws {
        var handshake = ProxyHandshake(socks, host: "api.example.com", port: 443)
        #expect(try handshake.start() == [5, 1, 0])
        #expect(try handshake.receive([5]) == .wait)
        #expect(try handshake.receive([0]) == .send([5, 1, 0, 3, 15] + Array("api.example.com".utf8) + [1, 187]))
        for byte in [5, 0, 0, 3, 2, 97, 98, 0] as [UInt8] { #expect(try handshake.receive([byte]) == .wait) }
        #expect(try handshake.receive([80]) == .done)
    }

    @Test func socksSendsTheCredentials() throws {
        var handshake = ProxyHandshake(
            ProxyServer(.socks5, host: "p", port: 1, credentials: ada), host: "192.0.2.1", port: 80)
        #expect(try handshake.start() == [5, 2, 0, 2])
        #expect(try handshake.receive([5, 2]) == .send([1, 3] + Array("Ada".utf8) + [4] + Array("Pass".utf8)))
        #expect(try handshake.receive([1, 0]) == .send([5, 1, 0, 1, 192, 0, 2, 1, 0, 80]))
        #expect(try handshake.receive([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) == .done)
    }

    @Test(
        arguments: [
            ([4, 0], "not SOCKS 5"), ([5, 255], "a method of authentication that is not supported"),
            ([5, 2], "a method of authentication that is not supported"),
            ([5, 0, 5], "before it is asked"),
        ] as [([UInt8], String)])
    func aSocksProxyThatLiesIsRefused(said: [UInt8], reason: String) {
        #expect(failure(socks, said).contains(reason))
    }

    @Test func socksRefusalsHaveAReason() throws {
        var handshake = ProxyHandshake(socks, host: "a", port: 1)
        _ = try handshake.start()
        _ = try handshake.receive([5, 0])
        let error = #expect(throws: ProxyError.self) { try handshake.receive([5, 2, 0, 1, 0]) }
        #expect(error?.description.contains("its rules forbid it") == true)
    }
}

/// Which proxy is used for which host.
struct ProxySettingsTests {
    private func route(_ environment: [String: String], _ url: (String, String, Int)) -> ProxySettings.Route {
        ProxySettings(environment: environment).route(to: Origin(scheme: url.0, host: url.1, port: url.2))
    }

    private func server(_ environment: [String: String], _ url: (String, String, Int)) -> String? {
        route(environment, url).proxy.map { "\($0)" }
    }

    @Test func theEnvironmentsVariablesAreRead() throws {
        let environment = ["https_proxy": "http://Ada:p%40ss@proxy.test:8080", "http_proxy": "socks5://[::1]"]
        let settings = ProxySettings(environment: environment)
        #expect(settings.https?.credentials == ProxyServer.Credentials(name: "Ada", password: "p@ss"))
        #expect("\(try #require(settings.https))" == "http://proxy.test:8080")
        #expect(settings.http == ProxyServer(.socks5, host: "::1", port: 1080))
        #expect(server(["ALL_PROXY": "p.test:3128"], ("https", "a.test", 443)) == "http://p.test:3128")
        // A request could set this one where a server starts programs.
        #expect(server(["HTTP_PROXY": "p.test:3128"], ("http", "a.test", 80)) == nil)
        #expect(server([:], ("https", "a.test", 443)) == nil)
    }

    @Test(arguments: [
        "localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "127.1", "[::1]", "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]", "localhost.",
    ])
    func noProxyIsUsedForThisMachine(host: String) throws {
        for scheme in ["http", "https"] {
            for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] {
                #expect(server([name: "p.test:1", "no_proxy": "a.test"], (scheme, host, 8080)) == nil)
            }
            let proxy = ProxyServer(.socks5, host: "p.test", port: 1)
            let settings = ProxySettings(https: proxy, http: proxy)
            #expect(settings.route(to: Origin(scheme: scheme, host: host, port: 1)) == .direct)
            #expect(settings.route(to: Origin(scheme: scheme, host: "\(host)x.test", port: 1)) == .proxy(proxy))
        }
    }

    @Test(arguments: [
        ("http://b\u{FC}cher.example", "xn--bcher-kva.example"), ("xn--bcher-kva.example:1", "xn--bcher-kva.example"),
    ])
    func aProxysNameIsNotDecoded(text: String, host: String) throws {
        #expect(ProxySettings(environment: ["https_proxy": text]).https?.host == host)
    }

    @Test(arguments: [
        "https://p.test", "ftp://p.test", "socks://p.test", "socks4://p.test", "http://", "http://p.test:99999", "::",
    ])
    func unusableVariableFailsOnlyItsOwnCalls(text: String) {
        for name in ["https_proxy", "all_proxy", "ALL_PROXY"] {
            let environment = [name: text, "no_proxy": "b.test", "http_proxy": "p.test:1"]
            guard case .unusable(let reason) = route(environment, ("https", "a.test", 443)) else {
                Issue.record("\(name) can be used")
                continue
            }
            #expect(reason.contains("the variable \(name) names no proxy that can be used"))
            #expect(route(environment, ("https", "b.test", 443)) == .direct)
            #expect(route(environment, ("https", "localhost", 443)) == .direct)
            #expect(route(environment, ("http", "a.test", 80)).proxy?.host == "p.test")
            #expect(route(environment.merging(["no_proxy": "*"]) { $1 }, ("https", "a.test", 443)) == .direct)
            var settings = ProxySettings(environment: environment)
            settings.https = nil
            #expect(settings.route(to: Origin(scheme: "https", host: "a.test", port: 443)) == .direct)
        }
    }

    @Test(arguments: [
        ("example.com", "example.com", 443, true), ("example.com", "api.example.com", 443, true),
        (".example.com", "api.example.com", 443, true), ("*.example.com", "api.example.com", 443, true),
        ("example.com", "badexample.com", 443, false), ("example.com:8443", "example.com", 443, false),
        ("example.com:8443", "example.com", 8443, true), ("*", "a.test", 443, true), ("", "a.test", 443, false),
        ("10.0.0.0/8", "10.2.3.4", 443, true), ("10.0.0.0/8", "11.2.3.4", 443, false),
        ("10.0.0.0/33", "10.2.3.4", 443, false), ("192.0.2.1", "192.0.2.1", 443, true),
        ("2001:db8::/32", "[2001:db8::7]", 443, true), ("[::1]:443", "[::1]", 443, true),
        ("a.test, LOCALHOST", "localhost", 443, true),
    ])
    func someHostsNeedNoProxy(list: String, host: String, port: Int, isBypassed: Bool) throws {
        let found = server(["https_proxy": "p.test:1", "no_proxy": list], ("https", host, port))
        #expect((found == nil) == isBypassed)
    }
}
