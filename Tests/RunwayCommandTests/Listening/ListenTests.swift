import Crypto
import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// `runway listen` against servers on this machine.
@Suite(.timeLimit(.minutes(10)))
struct ListenTests {
    private func stream(_ chunks: String...) -> ScriptedResponse {
        var response = ScriptedResponse.chunks(chunks).framed(.chunked)
        response.headerFields[.contentType] = "text/event-stream"
        return response
    }

    @Test func eventsArePrintedUntilTheServerEndsThem() async throws {
        try await withScriptedOrigin { origin in
            origin.on(
                "/events",
                respond: [
                    stream("id: 1\nevent: added\ndata: one\ndata: more\n\n", "id: 2\ndata: two\n\n"),
                    stream("id: 3\ndata: three\n\n"), .status(.noContent),
                ])
            let tool = try await Tool.run("listen", "\(origin.baseURL)/events")
            #expect(tool.status == 0)
            #expect(
                tool.output
                    == "-- reset: first\nadded 1\n  one\n  more\nmessage 2\n  two\n-- resumed\nmessage 3\n  three\n")
            let requests = try await origin.waitForRequests(count: 3)
            #expect(requests.map { $0["Last-Event-ID"] } == [nil, "2", "3"])
        }
    }

    @Test func dataLooksLikeNoOtherEvent() async throws {
        try await withScriptedOrigin { origin in
            let lines = ["-- reset: first", "", "added 2", "a\u{2028}b"]
            let data = lines.map { "data: \($0)\n" }.joined()
            origin.on("/events", respond: [stream("id: 1\nevent: added\n\(data)\n"), .status(.noContent)])
            let tool = try await Tool.run("listen", "\(origin.baseURL)/events")
            #expect(tool.output == "-- reset: first\nadded 1\n  -- reset: first\n  \n  added 2\n  a\n  b\n")
        }
    }

    @Test func programsReadOneObjectALine() async throws {
        try await withScriptedOrigin { origin in
            var response = stream(
                "id: e-8\nevent: runway.gap\ndata: {\"connection\":\"c\",\"from\":\"e-4\",\"to\":\"e-8\"}\n\n",
                "id: e-8\nevent: runway.live\ndata: {}\n\n",
                "id: e-9\nevent: added\ntopic: rentals\ndata: {\"id\":7}\n\n")
            response.headerFields[try #require(HTTPField.Name("Runway-Stream"))] = "listings"
            origin.on("/events", respond: response)
            let tool = try await Tool.run(
                "listen", "\(origin.baseURL)/events?city=a%20b", "page==2", "X-App:one", "--topics", "rentals,sales",
                "--after", "e-3", "--json", "--count", "1")
            #expect(tool.status == 0)
            #expect(
                tool.output == """
                    {"connection":"gap","from":"e-4","to":"e-8"}
                    {"connection":"caughtUp"}
                    {"type":"added","id":"e-9","topic":"rentals","data":"{\\"id\\":7}"}

                    """)
            let request = try await origin.waitForRequests(count: 1)[0]
            #expect(request["Last-Event-ID"] == "e-3" && request["X-App"] == "one")
            #expect(request.target == "/events?city=a%20b&page=2&topics=rentals%2Csales")
        }
    }

    @Test(arguments: [
        ("http", 403, "application/json"), ("http", 503, "application/json"), ("http", 200, "application/json"),
        ("http", 200, "text/html; charset=utf-8"), ("ws", 403, "application/json"), ("ws", 503, "application/json"),
        ("ws", 200, "application/json"), ("ws", 200, "text/html; charset=utf-8"),
    ])
    func aRefusalIsReported(scheme: String, status: Int, type: String) async throws {
        try await withScriptedOrigin { origin in
            var refusal = ScriptedResponse.json("{}", status: .init(code: status))
            refusal.headerFields[.contentType] = type
            origin.on("/events", respond: refusal)
            let tool = try await Tool.run("listen", scheme + origin.baseURL.dropFirst("http".count) + "/events")
            #expect(tool.status == 1)
            #expect(tool.output.isEmpty)
            #expect(tool.errors.hasPrefix("runway: "))
            if status == 200 { #expect(tool.errors.contains(String(type.prefix { $0 != ";" }))) }
        }
    }

    @Test func aServerThatIsNotThereIsReported() async throws {
        let tool = try await Tool.run("listen", "http://127.0.0.1:1/events")
        #expect(tool.status == 3)
        #expect(tool.errors.hasPrefix("runway: "))
        let socket = try await Tool.run("listen", "ws://127.0.0.1:1/chat")
        #expect(socket.status == 3)
    }

    @Test(arguments: [
        ["ftp://x/"], ["ws://x/", "--topics", "a"], ["http://x/", "a=1"], ["http://x/", "--count", "0"], [],
    ])
    func commandLineThatCannotBeUsedIsRefused(arguments: [String]) async throws {
        let tool = try await Tool.run(Tool.path, ["listen"] + arguments, input: [], environment: [:])
        #expect(tool.status == 2)
        #expect(tool.output.isEmpty)
    }

    /// Prints the WebSocket of a server that opens it and sends frames.
    private func listen(toFrames frames: [UInt8], _ options: String...) async throws -> Tool {
        try await withScriptedOrigin { origin in
            origin.on(.get, "/chat") { request in
                let key = (request["Sec-WebSocket-Key"] ?? "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
                let acceptance = Data(Insecure.SHA1.hash(data: Data(key.utf8))).base64EncodedString()
                let head = """
                    HTTP/1.1 101 Switching Protocols\r
                    Upgrade: websocket\r
                    Connection: Upgrade\r
                    Sec-WebSocket-Accept: \(acceptance)\r
                    \r

                    """
                var response = ScriptedResponse.raw(Array(head.utf8) + frames)
                response.ending = .stayOpen
                return response
            }
            let url = "ws" + origin.baseURL.dropFirst("http".count) + "/chat"
            return try await Tool.run(Tool.path, ["listen", url] + options, input: [], environment: [:])
        }
    }

    @Test func messagesOfAWebSocketArePrinted() async throws {
        // A text, bytes, and the server's close with code 1000.
        let frames = [0x81, 5] + Array("hello".utf8) + [0x82, 2, 0xFF, 0x00, 0x88, 2, 0x03, 0xE8]
        let tool = try await listen(toFrames: frames, "--json")
        #expect(tool.status == 0)
        #expect(
            tool.output == """
                {"connection":"1"}
                {"type":"text","data":"hello"}
                {"type":"binary","base64":"/wA="}
                {"connection":"closed","code":"1000"}

                """)
    }

    @Test func closeFrameIsPrinted() async throws {
        // Code 4401.
        let frames = [0x88, 14, 0x11, 0x31] + Array("plan expired".utf8)
        let tool = try await listen(toFrames: frames)
        #expect(tool.status == 1)
        #expect(tool.output == "-- connection 1\n-- closed by the server with code 4401, \"plan expired\"\n")
        #expect(tool.errors.contains("4401") && tool.errors.contains("plan expired"))
        let json = try await listen(toFrames: frames, "--json")
        #expect(json.output.hasSuffix(#"{"connection":"closed","code":"4401","reason":"plan expired"}"# + "\n"))
    }

    @Test func undecodableStreamEndsWithItsReason() async throws {
        try await withScriptedOrigin { origin in
            var response = stream("data: one\n\n")
            response.headerFields[.contentEncoding] = "gzip"
            origin.on("/events", respond: response)
            let tool = try await Tool.run("listen", "\(origin.baseURL)/events")
            #expect(tool.status == 1)
            #expect(tool.errors.hasPrefix("runway: "))
            #expect(origin.requests.count == 1)
        }
    }

    @Test func aListenerEndsAtOnceByASignal() async throws {
        try await withScriptedOrigin { origin in
            var response = stream("data: one\n\n")
            response.ending = .stayOpen
            origin.on("/events", respond: response.framed(.chunkedWithoutEnd))
            let tool = try RunningTool("listen", "\(origin.baseURL)/events")
            try await tool.wait(for: "one")
            tool.signal(SIGINT)
            #expect(await tool.end() == 130)
        }
    }
}
