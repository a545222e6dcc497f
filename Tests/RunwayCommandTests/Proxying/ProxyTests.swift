import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// `runway proxy`, between curl and a scripted origin.
@Suite(.timeLimit(.minutes(10)))
struct ProxyTests {
    @Test(arguments: ["xn--bcher-kva.localhost", "b\u{FC}cher.localhost"])
    func internationalOriginIsNotRefused(_ host: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("there"))
            _ = try await proxying(to: "http://\(host):\(origin.port)") { proxy in
                let body = try await fetch(proxy.url + "/a").body
                #expect(body == Array("there".utf8))
            }
            #expect(origin.requests.first?["Host"] == "xn--bcher-kva.localhost:\(origin.port)")
        }
    }

    @Test(arguments: ["none", "http"]) func requestsAndResponsesPassUnchanged(cache: String) async throws {
        try await withScriptedOrigin { origin in
            var response = ScriptedResponse.text("made")
            response.status = .created
            response.rawHeaderLines = [
                "X-Twice: a", "Date: Thu, 01 Jan 2026 00:00:00 GMT", "Age: 7", "X-Twice: b", "Set-Cookie: c=1",
                "Set-Cookie: d=2",
                "Connection: X-Private", "X-Private: 1", "Keep-Alive: timeout=5",
            ]
            origin.on(.put, "/a%20b", respond: response)
            let printed = try await proxying(to: origin.baseURL, "--cache", cache) { proxy in
                let curl = try await curl(
                    "--include", "-X", "PUT", "--data-binary", "body", "-H", "X-Rep: 1", "-H", "x-rep: 2", "-H",
                    "Connection: X-Gone", "-H", "X-Gone: 1", "-H", "TE: trailers", "-H",
                    "Proxy-Authorization: Basic YTpi",
                    "-H", "Accept-Encoding: br;q=0.5", "\(proxy.url)/a%20b?c=d&&e=%2F")
                let fields = curl.output.split(separator: "\r\n").map(String.init)
                #expect(fields.first == "HTTP/1.1 201 Created")
                #expect(fields.filter { $0.hasPrefix("X-Twice") } == ["X-Twice: a", "X-Twice: b"])
                #expect(fields.filter { $0.hasPrefix("Set-Cookie") } == ["Set-Cookie: c=1", "Set-Cookie: d=2"])
                #expect(fields.contains("Age: 7") && fields.contains("Date: Thu, 01 Jan 2026 00:00:00 GMT"))
                #expect(!curl.output.contains("X-Private") && !curl.output.contains("Keep-Alive"))
                #expect(fields.last == "made")
            }
            let request = try #require(origin.requests.first)
            #expect(request.method == .put && request.target == "/a%20b?c=d&&e=%2F" && request.text == "body")
            #expect(
                request.fields.filter { $0.name.lowercased() == "x-rep" }.map(\.description) == [
                    "X-Rep: 1", "x-rep: 2",
                ])
            for name in ["x-gone", "te", "proxy-authorization", "keep-alive"] {
                #expect(request.values(of: name).isEmpty)
            }
            #expect(request.values(of: "accept-encoding") == ["br;q=0.5"])
            #expect(request.values(of: "via").count == 1 && request.values(of: "via")[0].hasPrefix("1.1 runway-proxy-"))
            #expect(request.values(of: "host").allSatisfy { origin.baseURL.hasSuffix($0) })
            #expect(printed.status == 0)
            #expect(printed.output.contains("#1 PUT /a%20b → 201 succeeded in"))
        }
    }

    @Test func requestsAreUnchangedAndNoCodingUndone() async throws {
        try await withScriptedOrigin { origin in
            var response = ScriptedResponse.bytes([0x1F, 0x8B, 1, 2, 3], contentType: "text/plain")
            response.headerFields[.contentEncoding] = "gzip"
            origin.on("/coded", respond: response)
            for cache in ["none", "http"] {
                _ = try await proxying(to: origin.baseURL, "--cache", cache) { proxy in
                    let curl = try await curl("--include", "-A", "", "\(proxy.url)/coded")
                    #expect(
                        curl.output.contains("Content-Encoding: gzip\r\n")
                            && curl.output.contains("Content-Length: 5\r\n"))
                    #expect(curl.bytes.suffix(5) == [0x1F, 0x8B, 1, 2, 3])
                }
            }
            for request in origin.requests {
                #expect(request.values(of: "accept-encoding").isEmpty && request.values(of: "user-agent").isEmpty)
            }
        }
    }

    @Test func redirectsNoContentAndHeadPassOn() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/moved", respond: .redirect(to: "/elsewhere"))
            origin.on("/none", respond: .status(.noContent))
            origin.on(.head, "/head", respond: ScriptedResponse(headerFields: [.contentLength: "1234"]))
            let printed = try await proxying(to: origin.baseURL) { proxy in
                let response1 = try await curl(
                    "-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", "\(proxy.url)/moved")
                #expect(response1.output.hasPrefix("302 "))
                let response2 = try await curl("-w", "%{http_code}", "\(proxy.url)/none")
                #expect(response2.output == "204")
                let response3 = try await curl("--head", "\(proxy.url)/head")
                #expect(response3.output.contains("Content-Length: 1234"))
            }
            #expect(origin.requests.map(\.path) == ["/moved", "/none", "/head"])
            #expect(!printed.output.contains("failed") && !printed.output.contains("cancelled"), "\(printed.output)")
        }
    }

    @Test func bigBodiesPassBothWays() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.post, "/up", respond: .text("got it"))
            origin.on("/down", respond: .bytes([UInt8](repeating: 7, count: 20 << 20)))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("big")
                try Data(repeating: 1, count: 5 << 20).write(to: file)
                _ = try await proxying(to: origin.baseURL) { proxy in
                    let response4 = try await curl("--data-binary", "@\(file.path)", "\(proxy.url)/up")
                    #expect(response4.output == "got it")
                    let response5 = try await curl(
                        "-H", "Transfer-Encoding: chunked", "--data-binary", "@\(file.path)", "\(proxy.url)/up")
                    #expect(response5.output == "got it")
                    let response6 = try await curl("\(proxy.url)/down")
                    #expect(response6.bytes.count == 20 << 20)
                }
            }
            #expect(origin.requests.prefix(2).map(\.body.count) == [5 << 20, 5 << 20])
        }
    }

    @Test func aFailedRequestNamesTheReason() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/never", respond: .never)
            origin.on("/reset", respond: .resetting)
            _ = try await proxying(to: origin.baseURL, "--timeout", "5") { proxy in
                let late = try await curl("-w", " %{http_code}", "\(proxy.url)/never")
                #expect(late.output.contains(#""kind":"timedOut""#) && late.output.hasSuffix(" 504"))
            }
            _ = try await proxying(to: origin.baseURL) { proxy in
                let reset = try await curl("-w", " %{http_code}", "\(proxy.url)/reset")
                #expect(
                    reset.output.contains(#"{"error":{"kind":"#) && reset.output.hasSuffix(" 502"), "\(reset.output)")
            }
        }
    }

    @Test func itForwardsToNoOtherHost() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .text("here"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let other = try await curl("--proxy", proxy.url, "-w", " %{http_code}", "http://elsewhere.test/")
                #expect(other.output.hasSuffix(" 421"))
                let own = try await curl("--proxy", proxy.url, "-w", " %{http_code}", "\(origin.baseURL)/")
                #expect(own.output == "here 200")
                let response7 = try await curl("-H", "Host: evil.test", "-w", " %{http_code}", "\(proxy.url)/")
                #expect(response7.output.hasSuffix(" 421"))
                let response8 = try await curl(
                    "-X", "OPTIONS", "--request-target", "*", "-w", " %{http_code}", proxy.url)
                #expect(response8.output.hasSuffix(" 501"))
            }
            #expect(origin.requestCount == 1)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM]) func itStopsAtOnceWithRequestsInFlight(signal: Int32) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/never", respond: .never)
            var output = ""
            // A proxy that waits for its grace to end prints no record. On a machine that stands still, that may be one of them.
            for count in 1...5 where !output.contains("cancelled") {
                var waiting: Task<Tool, any Error>?
                let printed = try await proxying(
                    to: origin.baseURL, "--json", "--timeout", "3600", signal: signal
                ) { proxy in
                    waiting = Task { try await curl("\(proxy.url)/never") }
                    try await origin.waitForRequests(count: count)
                }
                #expect(printed.status == 0)
                output = printed.output
                let response = try await waiting?.value
                #expect(response?.status != 0)
            }
            #expect(output.contains("cancelled"))
        }
    }

    @Test func listeningForOthersNeedsAnOption() async throws {
        let tool = try await Tool.run("proxy", "--origin", "http://127.0.0.1:1", "--listen", "0.0.0.0:0")
        #expect(tool.status == 2 && tool.errors.contains("--allow-remote"))
        for bad in ["127.0.0.1", "127.0.0.1:70000", "example.com:80", "[::g]:1", ":1"] {
            #expect(try await Tool.run("proxy", "--origin", "http://127.0.0.1:1", "--listen", bad).status == 2)
        }
        #expect(try await Tool.run("proxy", "--origin", "http://127.0.0.1:1/path").status == 2)
        #expect(try await Tool.run("proxy", "--origin", "ftp://127.0.0.1").status == 2)
    }

    @Test func recordsAreLinesOfJSONOnRequest() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/list", respond: .json("[]"))
            let printed = try await proxying(to: origin.baseURL, "--json") { proxy in
                _ = try await curl("\(proxy.url)/list?token=secret")
            }
            let lines = printed.output.split(separator: "\n").filter { $0.hasPrefix("{") }
            #expect(lines.count == 1 && lines[0].contains(#""outcome":"#))
            #expect(!printed.output.contains("secret"))
        }
    }
}
