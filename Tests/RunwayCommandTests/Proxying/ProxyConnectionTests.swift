import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// What `runway proxy` makes of its clients' connections: their framing, their fields for one hop, and what is no HTTP.
@Suite(.timeLimit(.minutes(10)))
struct ProxyConnectionTests {
    @Test(arguments: [
        ("hello world, this is nobody\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\u{2}\u{0}", 400), ("GET\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: a\u{1}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX : a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n", 400),
        ("GET elsewhere HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET ftp://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501), ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        ("CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n", 501),
        ("TRACE / HTTP/1.1\r\nHost: localhost\r\nMax-Forwards: 0\r\n\r\n", 501),
        ("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
        ("PUT / HTTP/1.1\r\nHost: localhost\r\nExpect: rain\r\nContent-Length: 1\r\n\r\n", 417),
        ("GET / HTTP/1.1\r\nHost: 127.evil.test\r\n\r\n", 421),
        ("GET http://evil.test/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 65_536))\r\n\r\n", 431),
        ("GET /\(String(repeating: "a", count: 65_536)) HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\(String(repeating: "X: a\r\n", count: 2000))\r\n", 431),
    ])
    func proxySurvivesMalformedRequests(text: String, status: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let response = try await RawClient.exchange(text, port: proxy.port)
                #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(80)): \(response.prefix(200))")
                #expect(response.contains("\r\nConnection: close\r\n") && response.contains(#"{"error":{"kind":"#))
                #expect(response.ranges(of: "\r\n\r\n").count == 1, "one response, and no more")
                #expect(try await fetch("\(proxy.url)/").text == "fine")
            }
            #expect(origin.requests.filter(\.isComplete).count == 1)
        }
    }

    /// Cuts and changes of valid requests, by seed: each ends in at most one response, and none ends the proxy.
    @Test func garbledRequestsEndInBoundedTime() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["RUNWAY_PROXY_FUZZ"].flatMap { Int($0) } ?? 200
        let seed = environment["RUNWAY_PROXY_FUZZ_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let good = [
            "GET /a?b=c HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-5\r\nCache-Control: max-age=0\r\n\r\n",
            "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
            "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n",
            "GET http://localhost/a HTTP/1.0\r\nConnection: keep-alive, X-A\r\nX-A: 1\r\n\r\n",
        ]
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                for _ in 0..<count {
                    var bytes = Array(good.randomElement(using: &random)!.utf8)
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        let place = Int.random(in: 0..<bytes.count, using: &random)
                        switch Int.random(in: 0..<3, using: &random) {
                        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                        case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                        default: if bytes.count > 1 { bytes.remove(at: place) }
                        }
                    }
                    // It is followed by one that ends every connection: what the garbled one left open, this one ends.
                    bytes += Array("\r\n\r\n0\r\n\r\nGET / HTTP/1.0\r\n\r\nBREW\r\n\r\n".utf8)
                    let sent = bytes
                    try await RawClient.connecting(to: proxy.port) { client in
                        try await client.send(sent)
                        _ = try? await client.receive("HTTP/1.1 ")
                    }
                }
                #expect(try await fetch("\(proxy.url)/").text == "fine", "seed \(seed)")
            }
        }
    }

    @Test func pipelinedRequestsCompleteInOrder() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/1", respond: .text("one"))
            origin.on("/2", respond: .text("two"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let get = "HTTP/1.1\r\nHost: localhost\r\n\r\n"
                let responses = try await RawClient.exchange(
                    "GET /1 \(get)GET /2 \(get)nonsense\r\n\r\n", port: proxy.port)
                let places = ["one", "two", " 400 "].compactMap { responses.firstRange(of: $0)?.lowerBound }
                #expect(places.count == 3 && places.sorted() == places, "\(responses)")
                let last = try await RawClient.exchange(
                    "GET /1 HTTP/1.1\r\nHost: localhost\r\nConnection: x, Close\r\n\r\nGET /2 \(get)", port: proxy.port)
                #expect(last.contains("one") && !last.contains("two") && last.contains("\r\nConnection: close\r\n"))
            }
        }
    }

    @Test func clientsOfHTTP10GetCompatibleResponses() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/whole", respond: .text("whole"))
            origin.on("/parts", respond: .chunks(["in ", "parts"]))
            _ = try await proxying(to: origin.baseURL, "--cache", "none") { proxy in
                let whole = try await RawClient.exchange(
                    "GET /whole HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\r\n", port: proxy.port)
                #expect(whole.hasSuffix("\r\n\r\nwhole") && whole.contains("\r\nConnection: close\r\n"))
                #expect(!whole.contains(" 100 "))
                let parts = try await RawClient.exchange("GET /parts HTTP/1.0\r\n\r\n", port: proxy.port)
                #expect(parts.hasSuffix("\r\n\r\nin parts") && !parts.lowercased().contains("transfer-encoding"))
                #expect(try await fetch("\(proxy.url)/parts").text == "in parts")
                let chunked = try await fetch("\(proxy.url)/parts", "--raw")
                // Parts that come together may be passed on as one.
                let wholes = ["3\r\nin \r\n5\r\nparts\r\n0\r\n\r\n", "8\r\nin parts\r\n0\r\n\r\n"]
                #expect(wholes.contains(chunked.text), "\(chunked.text)")
            }
            #expect(origin.requests[0]["Via"]?.hasPrefix("1.0 runway-proxy-") == true)
            #expect(origin.requests[0].values(of: "Host").count == 1)
            #expect(origin.requests[2]["Via"]?.hasPrefix("1.1 runway-proxy-") == true)
        }
    }

    @Test func fieldsOfOneHopEndAtIt() async throws {
        try await withScriptedOrigin { origin in
            origin.on(
                "/",
                respond: ScriptedResponse.text("fine").rawHeader("Connection: X-One , x-two,Content-Length")
                    .rawHeader("X-One: 1").rawHeader("X-Two: 2").rawHeader("X-Three: 3").rawHeader("TE: trailers")
                    .rawHeader("Upgrade: h2c").rawHeader("Keep-Alive: timeout=1").rawHeader("Trailer: X-Sum")
                    .rawHeader("Proxy-Authenticate: Basic").rawHeader("Proxy-Connection: keep-alive")
                    .rawHeader("Proxy-Status: elsewhere; error=x").rawHeader("Via: 1.1 elsewhere"))
            _ = try await proxying(to: origin.baseURL, "--cache", "none") { proxy in
                let response = try await fetch(
                    "\(proxy.url)/", "-H", "Connection: X-One , x-two, Upgrade", "-H", "X-One: 1", "-H", "X-Two: 2",
                    "-H", "X-Three: 3", "-H", "Upgrade: websocket", "-H", "TE: trailers, deflate", "-H",
                    "Trailer: X-Sum", "-H", "Keep-Alive: 5", "-H", "Proxy-Connection: keep-alive", "-H",
                    "Proxy-Authorization: Basic YTpi", "-H", "Via: 1.0 elsewhere")
                #expect(response.text == "fine" && response["X-Three"] == "3" && response["Content-Length"] == "4")
                for name in [
                    "X-One", "X-Two", "TE", "Upgrade", "Keep-Alive", "Trailer", "Proxy-Authenticate",
                    "Proxy-Connection",
                ] { #expect(response[name] == nil, "\(name)") }
                #expect(
                    response["Proxy-Status"] == "elsewhere; error=x" && response.values(of: "Via") == ["1.1 elsewhere"])
            }
            let request = try #require(origin.requests.first)
            #expect(request["X-Three"] == "3" && request.values(of: "Via").first == "1.0 elsewhere")
            for name in [
                "X-One", "X-Two", "Upgrade", "TE", "Trailer", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization",
            ] { #expect(request[name] == nil, "\(name)") }
        }
    }

    @Test func aProxyThatLeadsToItselfStops() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let looped = try await fetch("\(proxy.url)/", "-H", "Via: 1.1 a, 1.1 runway-proxy-\(proxy.port) (x)")
                #expect(looped.status == 508)
                let like = try await fetch("\(proxy.url)/", "-H", "Via: 1.1 runway-proxy-\(proxy.port)0")
                #expect(like.status == 200)
            }
        }
    }

    @Test(arguments: ["PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "QUERY"])
    func everyKnownMethodPasses(method: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let response = try await fetch("\(proxy.url)/a", "-X", method, "-H", "Max-Forwards: 5")
                #expect(response.text == "fine")
            }
            #expect(origin.requests.map(\.method.rawValue) == [method])
            #expect(origin.requests[0]["Max-Forwards"] == (["OPTIONS", "TRACE"].contains(method) ? "4" : "5"))
        }
    }
}
