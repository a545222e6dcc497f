import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// `runway proxy` without `--origin`: plain HTTP to any server through the layer.
@Suite(.timeLimit(.minutes(10)))
struct ForwardProxyTests {
    @Test func plainRequestReachesTheServerItNames() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: ScriptedResponse.text("fine").header(.cacheControl, "max-age=60"))
            let (output, status) = try await forwarding("--allow-local") { proxy in
                for expected in ["fwd=miss", "hit"] {
                    let response = try await fetch("\(origin.baseURL)/x?q=1", "--proxy", proxy.url)
                    #expect(response.status == 200 && response.text == "fine")
                    #expect(response["Cache-Status"]?.contains(expected) == true)
                }
                let posted = try await fetch("\(origin.baseURL)/y", "--proxy", proxy.url, "--data", "a=1")
                #expect(posted.text == "fine")
            }
            #expect(status == 0)
            #expect(origin.requests.map(\.target) == ["/x?q=1", "/y"])
            #expect(origin.requests.allSatisfy { $0["Host"] == "127.0.0.1:\(origin.port)" && $0["Via"] != nil })
            #expect(origin.requests[1].text == "a=1")
            #expect(output.contains("for any server\n"))
            #expect(output.contains("GET /x → 200"))
        }
    }

    /// Targets of this machine, of its link and of private networks, in the notations that resolvers read.
    static let localHosts = [
        "127.0.0.1", "localhost", "LOCALHOST", "app.localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::1]",
        "[::]", "[::ffff:127.0.0.1]", "169.254.169.254", "[fe80::1]", "10.0.0.1", "192.168.0.1", "[64:ff9b::7f00:1]",
    ]

    @Test func localTargetsAreRefused() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await forwarding { proxy in
                for host in Self.localHosts {
                    let authority = "\(host):\(origin.port)"
                    let plain = "GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n"
                    let refusal = try await RawClient.exchange(plain, port: proxy.port)
                    #expect(refusal.hasPrefix("HTTP/1.1 403 "), "\(host): \(refusal.prefix(300))")
                    #expect(refusal.contains("Proxy-Status: runway; error=http_request_denied"))
                    let tunnel = try await RawClient.exchange("CONNECT \(host):443 HTTP/1.1\r\n\r\n", port: proxy.port)
                    #expect(tunnel.hasPrefix("HTTP/1.1 403 "), "\(host): \(tunnel.prefix(300))")
                }
            }
            #expect(origin.requestCount == 0)
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400),
        ("GET http://me@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400),
        ("CONNECT example.com HTTP/1.1\r\n\r\n", 400),
        ("CONNECT example.com:0 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT example.com:99999 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT http://example.com:443/ HTTP/1.1\r\n\r\n", 400),
        ("CONNECT example.com:443 HTTP/2.0\r\n\r\n", 400),
        ("CONNECT  example.com:443 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT me@example.com:443 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT example.com:22 HTTP/1.1\r\n\r\n", 403),
        ("CONNECT example.com:443 HTTP/1.1\r\nX: \(String(repeating: "a", count: 65_536))\r\n\r\n", 431),
        ("CONNECTED / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ])
    func unusableRequestIsRefused(text: String, status: Int) async throws {
        _ = try await forwarding { proxy in
            let response = try await RawClient.exchange(text, port: proxy.port)
            #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(60)): \(response.prefix(200))")
            #expect(response.contains("\r\nConnection: close\r\n"))
            #expect(response.contains("Proxy-Status: runway; error="))
        }
    }
}
