import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// Each way in which a response or a connection can go wrong, as a client sees it.
@Suite(.timeLimit(.minutes(10)))
struct MisbehaviourTests {
    @Test func tooLargeDeclaredLengthClosesTheConnection() async throws {
        let seen = try await see(.text("short").declaring(length: 99))
        #expect(seen.text.contains("Content-Length: 99\r\n"))
        #expect(seen.text.hasSuffix("\r\n\r\nshort"))
        #expect(seen.end == .finished)
    }

    @Test func tooSmallLengthLeavesBytesOnTheConnection() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: [.text("abcdef").declaring(length: 3), .text("second")])
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            #expect(try await client.read(through: "abc").contains("Content-Length: 3\r\n"))
            try await client.get("/")
            #expect(try await client.read(through: "second").hasPrefix("defHTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func chunkCanBeBroken() async throws {
        let seen = try await see(.chunks(["one", "two"]).framed(.brokenChunk(1)))
        #expect(seen.text.hasSuffix("\r\n\r\n3\r\none\r\nnot a size\r\ntwo\r\n0\r\n\r\n"))
        #expect(seen.end == .finished)
    }

    @Test func lastChunkCanBeMissing() async throws {
        let seen = try await see(.chunks(["one"]).framed(.chunkedWithoutEnd))
        #expect(seen.text.hasSuffix("\r\n\r\n3\r\none\r\n"))
        #expect(seen.end == .finished)
    }

    @Test func responseCanBeCutInItsHead() async throws {
        let seen = try await see(.text("body").cut(after: .headBytes(10)))
        #expect(seen.text == "HTTP/1.1 2")
        #expect(seen.end == .finished)
    }

    @Test func responseCanBeCutInItsBody() async throws {
        let seen = try await see(.chunks(["one", "two"]).cut(after: .bodyBytes(10)))
        #expect(seen.text.hasSuffix("\r\n\r\n3\r\none\r\n3\r"))
        #expect(seen.end == .finished)
    }

    @Test func pauseAfterTheCutIsNotMade() async throws {
        let gate = ScriptedGate()
        let response = ScriptedResponse.chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate))
        #expect(try await see(response.cut(after: .bodyBytes(8))).text.hasSuffix("\r\n\r\n3\r\none\r\n"))
        #expect(gate.arrivalCount == 0)
    }

    @Test func cutPastTheEndIsAtTheEnd() async throws {
        let seen = try await see(.text("body").cut(after: .bodyBytes(1000)))
        #expect(seen.text.hasSuffix("\r\n\r\nbody"))
        #expect(try await see(.status(.ok).cut(after: .headBytes(1000))).text.hasSuffix("\r\n\r\n"))
    }

    @Test func connectionCanBeResetInTheBody() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on(
                "/",
                respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)).cut(
                    after: .bodyBytes(9),
                    by: .reset
                )
            )
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            _ = try await client.read(through: "3\r\none\r\n")
            gate.open()
            _ = try await client.readToEnd()
            #expect(client.end == .reset)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func connectionCanBeResetWithoutAResponse() async throws {
        let seen = try await see(.resetting)
        #expect(seen.text.isEmpty)
        #expect(seen.end == .reset)
    }

    @Test func connectionCanBeClosedWithoutAResponse() async throws {
        let seen = try await see(.closing)
        #expect(seen.text.isEmpty)
        #expect(seen.end == .finished)
    }

    @Test func halfClosedConnectionStaysUntilTheClientCloses() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .text("bye").ending(.halfClose))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            #expect(try await client.readToEnd().hasSuffix("bye"))
            #expect(client.end == .finished)
            // A closed socket would respond to these bytes with a reset; a half-closed one accepts them.
            try await client.get("/ignored")
            #expect(origin.openConnectionCount == 1)
            #expect(origin.requestCount == 1)
            try await client.close()
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func originCanNeverRespond() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .never)
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            try await origin.waitForRequests(count: 1)
            try await client.get("/ignored")
            #expect(origin.openConnectionCount == 1)
            try await client.close()
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.requestCount == 1)
        }
    }

    @Test func bytesAreSentVerbatim() async throws {
        let seen = try await see(.raw("HTTP/1.1 OK 200\nnonsense \u{0}\r"))
        #expect(seen.text == "HTTP/1.1 OK 200\nnonsense \u{0}\r")
        #expect(seen.end == .finished)
    }

    @Test func illegalHeaderLinesAreSentAsTheyAre() async throws {
        let seen = try await see(.text("x").rawHeader("no colon").rawHeader(" : \u{1}").ending(.close))
        #expect(seen.text.hasSuffix("\r\nContent-Length: 1\r\nno colon\r\n : \u{1}\r\n\r\nx"))
    }

    @Test func headCanBeHuge() async throws {
        let seen = try await see(.text("x").paddedHead(bytes: 1 << 20).ending(.close))
        #expect(seen.text.utf8.count > 1 << 20)
        #expect(seen.text.hasSuffix("aaa\r\n\r\nx"))
    }

    @Test func responseCanBeSentTwice() async throws {
        let seen = try await see(.text("x").repeated(times: 2).ending(.close))
        let once = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 1\r\n\r\nx"
        #expect(seen.text == once + once)
    }

    @Test(arguments: [(ScriptedConnection.close, RawClient.End.finished), (.reset, .reset)])
    func connectionCanBeDroppedAtAccept(connection: ScriptedConnection, end: RawClient.End) async throws {
        try await withScriptedOrigin { origin in
            origin.onConnections([connection, .serve])
            origin.on("/", respond: .text("x"))
            #expect(try await RawClient.connectToBeDropped(by: origin.port) == end)
            let second = try await RawClient.connect(to: origin.port)
            try await second.get("/")
            #expect(try await second.read(through: "\r\n\r\nx").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(origin.connectionCount == 2)
            #expect(origin.requestCount == 1)
        }
    }

    @Test func acceptedConnectionCanBeIgnored() async throws {
        try await withScriptedOrigin { origin in
            origin.onConnections([.ignore])
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            try await origin.waitForConnections(count: 1)
            try await client.close()
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.requestCount == 0)
            #expect(origin.malformedRequests.isEmpty)
        }
    }

    @Test func responseCanPrecedeAnyRequest() async throws {
        try await withScriptedOrigin { origin in
            origin.onConnections([.respond(.text("too early", status: .requestTimeout))])
            origin.on("/", respond: .text("in time"))
            let client = try await RawClient.connect(to: origin.port)
            #expect(try await client.read(through: "too early").hasPrefix("HTTP/1.1 408 "))
            #expect(origin.requestCount == 0)
            try await client.get("/")
            #expect(try await client.read(through: "in time").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    /// What a client reads to the end of a new connection, and which end that is.
    private func see(_ response: ScriptedResponse) async throws -> (text: String, end: RawClient.End?) {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: response)
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            return (try await client.readToEnd(), client.end)
        }
    }
}
