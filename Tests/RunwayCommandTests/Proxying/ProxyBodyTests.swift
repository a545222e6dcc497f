import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// Bodies through `runway proxy`: large ones, slow ones, truncated ones, and cancelled ones.
@Suite(.timeLimit(.minutes(10)))
struct ProxyBodyTests {
    /// More than the proxy gathers of a request.
    private let large = [UInt8](repeating: 0x61, count: 3 << 20)

    @Test func expectationGetsA100() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.put, "/", respond: .text("got it"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                try await withTemporaryFolder { folder in
                    let file = folder.appendingPathComponent("large")
                    try Data(large).write(to: file)
                    for framing in ["X-Plain: 1", "Transfer-Encoding: chunked"] {
                        let response = try await fetch(
                            "\(proxy.url)/", "-X", "PUT", "-H", "Expect: 100-continue", "-H", framing,
                            "--expect100-timeout", "60", "--data-binary", "@\(file.path)")
                        #expect(response.text == "got it" && response.interimCount == 1)
                    }
                }
            }
            #expect(origin.requests.map(\.body.count) == [large.count, large.count])
            #expect(origin.requests.allSatisfy { $0["Expect"] == nil })
            #expect(origin.requests[0]["Content-Length"] == "\(large.count)")
            #expect(origin.requests[1]["Transfer-Encoding"] == "chunked")
        }
    }

    @Test func trailersAreDroppedAndTheBodyIsWhole() async throws {
        try await withScriptedOrigin { origin in
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
            origin.on(.post, "/", respond: .raw(head + "4\r\nfine\r\n0\r\nX-Sum: 1\r\n\r\n"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let response = try await RawClient.exchange(
                    """
                    POST / HTTP/1.1\r\nHost: localhost\r\nTE: trailers\r\nConnection: TE, close\r\nTrailer: X-Sum\r
                    Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n
                    """, port: proxy.port)
                #expect(response.hasSuffix("\r\n\r\n4\r\nfine\r\n0\r\n\r\n") && !response.contains("X-Sum"))
            }
            let request = try #require(origin.requests.first)
            #expect(request.text == "abc" && request.trailers.isEmpty)
            #expect(request["Trailer"] == nil && request["TE"] == nil)
        }
    }

    @Test func responseBeforeTheEndOfTheRequestPasses() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.put, "/", responding: .afterHead, respond: .text("too much", status: .contentTooLarge))
            origin.on("/next", respond: .text("next"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                try await RawClient.connecting(to: proxy.port) { client in
                    try await client.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000\r\n\r\nabc")
                    let response = try await client.receiveAll()
                    #expect(response.hasPrefix("HTTP/1.1 413 ") && response.contains("too much"))
                    #expect(response.contains("\r\nConnection: close\r\n"))
                }
                try await withTemporaryFolder { folder in
                    let file = folder.appendingPathComponent("large")
                    try Data(large).write(to: file)
                    let response = try await fetch("\(proxy.url)/", "-X", "PUT", "--data-binary", "@\(file.path)")
                    #expect(response.status == 413)
                }
                #expect(try await fetch("\(proxy.url)/next").text == "next")
            }
        }
    }

    /// The outcome of a request whose response breaks before its body.
    @Test(arguments: [
        (ScriptedResponse.closing, 502), (.resetting, 502), (.raw("this is nothing\r\n\r\n"), 502),
        (.raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 502),
        (ScriptedResponse.text("fine").paddedHead(bytes: 200_000), 502),
        (ScriptedResponse.text("fine").cut(after: .headBytes(20)), 502), (.never, 504),
    ])
    func aSilentOriginBecomesAGatewayError(response: ScriptedResponse, status: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: response)
            for cache in ["http", "none"] {
                // A client with a response has all the time that a busy machine needs; only silence times out.
                let timeout = status == 504 ? "5" : "60"
                _ = try await proxying(to: origin.baseURL, "--cache", cache, "--timeout", timeout) { proxy in
                    let fetched = try await fetch("\(proxy.url)/")
                    #expect(fetched.status == status, "\(fetched.text)")
                    let message = try #require(fetched.text.firstMatch(of: /"message":"([^"]+)"/)).1
                    #expect(message.contains("127.0.0.1:\(origin.port)"), "\(message)")
                }
            }
        }
    }

    @Test(arguments: [
        ScriptedResponse.text("half a response").declaring(length: 100).ending(.close),
        ScriptedResponse.chunks(["half", " a response"]).framed(.chunkedWithoutEnd),
        ScriptedResponse.text("half a response").declaring(length: 100).ending(.stayOpen),
    ])
    func aTruncatedBodyIsIncomplete(response: ScriptedResponse) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: response.header(.cacheControl, "max-age=60"))
            for (count, cache) in [(2, "http"), (3, "none")] {
                // Of the response that never ends, the head must come in time.
                let timeout = response.ending == .stayOpen ? "5" : "60"
                _ = try await proxying(to: origin.baseURL, "--cache", cache, "--timeout", timeout) { proxy in
                    for _ in 0..<(cache == "http" ? 2 : 1) {
                        let fetched = try await fetch("\(proxy.url)/")
                        #expect(fetched.status == 200 && fetched.exitCode != 0)
                    }
                }
                #expect(origin.requestCount == count, "a truncated response is neither cached nor requested twice")
            }
        }
    }

    @Test func partsAreForwardedAtOnceAndStoredLast() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on(
                "/",
                respond: .chunks(["one,", "two"]).header(.cacheControl, "max-age=60").pausing(
                    .beforeChunk(1), .gate(gate)))
            _ = try await proxying(to: origin.baseURL) { proxy in
                try await RawClient.connecting(to: proxy.port) { client in
                    try await client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    try await client.receive("one,")
                    gate.open()
                    let response = try await client.receiveAll()
                    #expect(response.contains("two"))
                }
                #expect(try await fetch("\(proxy.url)/").text == "one,two")
                #expect(origin.requestCount == 1)
            }
        }
    }

    @Test func tooLargeResponseIsRequestedOnce() async throws {
        try await withScriptedOrigin { origin in
            let count = 17 << 20
            origin.on("/", respond: .bytes([UInt8](repeating: 7, count: count)).header(.cacheControl, "max-age=60"))
            _ = try await proxying(to: origin.baseURL) { proxy in
                let response = try await curl("-o", "/dev/null", "-w", "%{http_code} %{size_download}", "\(proxy.url)/")
                #expect(response.output == "200 \(count)" && origin.requestCount == 1)
            }
        }
    }

    @Test func anOriginThatIsDownIsNamed() async throws {
        let port = try RefusingPort()
        _ = try await proxying(to: "http://127.0.0.1:\(port.number)") { proxy in
            let response = try await fetch("\(proxy.url)/")
            #expect(response.status == 502 && response.text.contains("Connection refused"))
            #expect(response["Cache-Control"] == "no-store")
        }
    }

    @Test func abandonedRequestsAreCancelledAtTheOrigin() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/never", respond: .never)
            origin.on("/stream", respond: ScriptedResponse.text("data: 1\n\n").declaring(length: 900).ending(.stayOpen))
            _ = try await proxying(to: origin.baseURL, "--timeout", "3600") { proxy in
                try await RawClient.connecting(to: proxy.port) { client in
                    try await client.send("GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    try await origin.waitForRequests(count: 1)
                }
                try await origin.waitForDisconnects(count: 1)
                try await RawClient.connecting(to: proxy.port) { client in
                    try await client.send(
                        "GET /stream HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
                    try await client.receive("data: 1")
                }
                try await origin.waitForDisconnects(count: 2)
                try await RawClient.connecting(to: proxy.port) { client in
                    try await client.send("PUT /up HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\nabc")
                    try await origin.waitForConnections(count: 3)
                }
                try await origin.waitForDisconnects(count: 3)
            }
        }
    }

    @Test(.enabled(if: NginxOrigin.isExpected)) func largeBodiesPassInConstantMemory() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving([]) { file in
            // A file with nothing but a length.
            let handle = try FileHandle(forWritingTo: file.place)
            try handle.truncate(atOffset: 300 << 20)
            try handle.close()
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                let whole = try await curl("-o", "/dev/null", "-w", "%{http_code} %{size_download}", url)
                #expect(whole.output == "200 \(300 << 20)")
                // A client that reads slowly holds its origin back.
                let slow = try await curl("-o", "/dev/null", "--limit-rate", "20M", "--max-time", "1", url)
                #expect(slow.status == 28)
                let up = try await curl("-X", "PUT", "-T", file.place.path, "-w", "%{http_code}", url)
                #expect(up.output == "204")
                if let peak = proxy.peakMemory { #expect(peak < 160 << 20, "\(peak >> 20) MiB") }
            }
        }
    }
}
