import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// Without --policies the proxy neither retries nor refuses requests, and it marks its own responses with Proxy-Status.
@Suite(.timeLimit(.minutes(10)))
struct ProxyPolicyTests {
    @Test func failingOriginIsNotHiddenByACircuit() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("broken", status: .internalServerError))
            _ = try await proxying(to: origin.baseURL) { proxy in
                for _ in 0..<8 {
                    let response = try await fetch("\(proxy.url)/")
                    #expect(response.status == 500 && response.text == "broken" && response["Proxy-Status"] == nil)
                }
                #expect(origin.requestCount == 8)
            }
            let printed = try await proxying(to: origin.baseURL, "--policies") { proxy in
                for _ in 0..<5 { #expect(try await fetch("\(proxy.url)/").status == 500) }
                // If the circuit has closed before the next request comes, the failure of that opens it for twice as long.
                var (refused, count) = (try await fetch("\(proxy.url)/"), 13)
                while refused.status == 500, count < 19 {
                    (refused, count) = (try await fetch("\(proxy.url)/"), count + 1)
                }
                #expect(refused.status == 503 && refused["Proxy-Status"] == "runway; error=destination_unavailable")
                #expect((1...5 << (count - 13)).contains(refused["Retry-After"].flatMap { Int($0) } ?? 0))
                #expect(origin.requestCount == count)
            }
            #expect(printed.output.contains("nothing is sent for"))
        }
    }

    @Test func noRequestIsRetriedByDefault() async throws {
        try await withScriptedOrigin { origin in
            let busy = ScriptedResponse.text("busy", status: .serviceUnavailable).header(.retryAfter, "0")
            for (path, arguments) in [("/shown", []), ("/retried", ["--policies"])] {
                origin.on(nil, path, respond: [busy, .text("fine")])
                let tool = try RunningTool(
                    ["proxy", "--origin", origin.baseURL] + arguments, streams: .pipe, environment: [:])
                let greeting = try await tool.wait(for: "\n")
                let url = try #require(greeting.firstMatch(of: /Listening at (\S+) for/)).1
                let response = try await fetch(url + path)
                #expect(response.text == (arguments.isEmpty ? "busy" : "fine"))
                #expect(response["Proxy-Status"] == nil)
                tool.signal(SIGINT)
                _ = await tool.end()
            }
            #expect(origin.requests.map(\.path) == ["/shown", "/retried", "/retried"])
        }
    }

    @Test func floodGuardIsOffByDefault() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine").header(.cacheControl, "no-store"))
            let requests = String(repeating: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 101)
            let last = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            _ = try await proxying(to: origin.baseURL) { proxy in
                let responses = try await RawClient.exchange(requests + last, port: proxy.port)
                #expect(responses.ranges(of: "HTTP/1.1 200 OK").count == 102)
            }
            _ = try await proxying(to: origin.baseURL, "--policies") { proxy in
                let responses = try await RawClient.exchange(requests + last, port: proxy.port)
                #expect(responses.contains("HTTP/1.1 503 "))
                #expect(responses.contains("\r\nProxy-Status: runway; error=http_request_denied\r\n"))
                #expect(responses.contains("\r\nRetry-After: "))
            }
        }
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", 400, "http_request_error"),
        ("BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501, "proxy_internal_response"),
        ("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", 421, "http_request_denied"),
        ("GET /never HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 504, "http_response_timeout"),
        ("GET /reset HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 502, "connection_terminated"),
        ("GET /noise HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 502, "http_protocol_error"),
        (
            "GET / HTTP/1.1\r\nHost: localhost\r\nCache-Control: only-if-cached\r\nConnection: close\r\n\r\n", 504,
            "proxy_internal_response"
        ),
    ])
    func proxyErrorsHaveAProxyStatus(request: String, status: Int, error: String) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/never", respond: .never)
            origin.on("/reset", respond: .resetting)
            origin.on("/noise", respond: .raw("this is nothing\r\n\r\n"))
            let timeout = request.contains("/never") ? "5" : "60"
            _ = try await proxying(to: origin.baseURL, "--timeout", timeout) { proxy in
                let response = try await RawClient.exchange(request, port: proxy.port)
                #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(response)")
                #expect(response.contains("\r\nProxy-Status: runway; error=\(error)\r\n"), "\(response)")
            }
        }
    }

    @Test func noResponseThatSetsACookieIsStored() async throws {
        try await withScriptedOrigin { origin in
            let page = ScriptedResponse.text("page").header(.cacheControl, "max-age=60")
            origin.on("/cookie", respond: page.header(.setCookie, "sid=1"))
            origin.on(
                "/excepted",
                respond: ScriptedResponse.text("page").header(.setCookie, "sid=1")
                    .header(.cacheControl, "max-age=60, no-cache=\"set-cookie\""))
            origin.on("/plain", respond: page)
            let checked = ScriptedResponse.text("page").header(.cacheControl, "no-cache").header(.eTag, "\"1\"")
            let confirmed = ScriptedResponse.status(.notModified).header(.eTag, "\"1\"").header(.setCookie, "sid=2")
            origin.on("/confirmed", respond: [checked, confirmed, checked])
            _ = try await proxying(to: origin.baseURL) { proxy in
                for path in ["/cookie", "/excepted", "/plain"] {
                    for _ in 0..<2 { #expect(try await fetch(proxy.url + path).text == "page") }
                }
                #expect(origin.requests.map(\.path) == ["/cookie", "/cookie", "/excepted", "/excepted", "/plain"])
                // The cookie of a 304 reaches the client that it is for, and nobody after it.
                let responses = try await [
                    fetch("\(proxy.url)/confirmed"), fetch("\(proxy.url)/confirmed"), fetch("\(proxy.url)/confirmed"),
                ]
                #expect(responses.map(\.text) == ["page", "page", "page"])
                #expect(responses.map { $0["Set-Cookie"] } == [nil, "sid=2", nil])
                #expect(origin.requests.last?["If-None-Match"] == nil)
            }
        }
    }
}
