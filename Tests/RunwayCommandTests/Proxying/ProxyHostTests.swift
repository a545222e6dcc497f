import Foundation
import RunwayTestServer
import Testing

/// Which hosts a request to `runway proxy` may name.
@Suite(.timeLimit(.minutes(10)))
struct ProxyHostTests {
    /// Sends one GET, and returns the status of its response.
    private func status(host: String, target: String = "/", _ proxy: RunningProxy) async throws -> String {
        let text = "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
        let response = try await RawClient.exchange(text, port: proxy.port)
        return String(response.dropFirst("HTTP/1.1 ".count).prefix(3))
    }

    @Test func malformedHostIsRefused() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                for host in [
                    "127.0.0.1:evil", "127.0.0.1:80:80", "127.0.0.1:-1", "127.0.0.1:65536", "localhost:8 0",
                    "me@localhost", "me:secret@127.0.0.1", "@localhost", "[::1", "[::1]evil", "[::1]:x", "[localhost]",
                    "::1", ":80", "", "localhost/x", "localhost#x", "local host", "localhost\\x",
                ] {
                    let found = try await status(host: host, proxy)
                    #expect(found == "400", "\(host)")
                    // The target counts, and a field that is no host is an error all the same (RFC 9112 §3.2).
                    let named = try await status(host: host, target: "http://localhost/", proxy)
                    #expect(named == "400", "\(host)")
                }
                for target in ["http://me@localhost/", "http://me:x@localhost/", "http://localhost:evil/", "http:///x"]
                {
                    let found = try await status(host: "localhost", target: target, proxy)
                    #expect(found == "400", "\(target)")
                }
                #expect(origin.requestCount == 0)
                for host in ["localhost", "LOCALHOST:", "127.0.0.1:0080", "127.9.9.9", "[::1]", "[0:0:0:0:0:0:0:1]:80"]
                {
                    let found = try await status(host: host, proxy)
                    #expect(found == "200", "\(host)")
                }
            }
        }
    }

    @Test func remoteProxyRefusesForeignHosts() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let remote = ["--listen", "0.0.0.0:0", "--allow-remote"]
            for allowed in [
                [], ["--allow-host", "Box.test", "--allow-host", "203.0.113.9", "--allow-host", "2001:db8::7"],
            ] {
                let tool = try RunningTool(
                    ["proxy", "--origin", origin.baseURL] + remote + allowed, streams: .pipe, environment: [:])
                let greeting = try await tool.wait(for: "\n")
                let port = try #require(greeting.firstMatch(of: /:(\d+) for/).flatMap { Int($0.1) })
                let proxy = RunningProxy(url: "", port: port, processIdentifier: tool.processIdentifier)
                // The address that the client connected to, and that of the loopback.
                #expect(try await status(host: "127.0.0.1:\(port)", proxy) == "200")
                #expect(try await status(host: "localhost", proxy) == "200")
                for host in ["evil.test", "box.test.evil.test", "203.0.113.8", "192.168.7.7:\(port)", "[2001:db8::8]"] {
                    let found = try await status(host: host, proxy)
                    #expect(found == "421", "\(host)")
                }
                for host in ["box.test:\(port)", "203.0.113.9", "[2001:DB8:0::7]:80"] {
                    let found = try await status(host: host, proxy)
                    #expect(found == (allowed.isEmpty ? "421" : "200"), "\(host)")
                }
                tool.signal(SIGINT)
                #expect(await tool.end() == 0)
            }
        }
    }

    @Test(arguments: ["a:80", "me@a", "http://a", "", "a b", "[::1]"])
    func allowedHostIsANameOrAnAddress(host: String) async throws {
        let tool = try await Tool.run("proxy", "--origin", "http://127.0.0.1:1", "--allow-host", host)
        #expect(tool.status == 2 && tool.errors.contains("--allow-host must be a name or an address"))
    }
}
