import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// Each well-behaved part of a response, as bytes on the wire.
@Suite(.timeLimit(.minutes(10)))
struct ScriptedResponseTests {
    @Test func responseHasOnlyScriptedFields() async throws {
        let text = try await exchange(.text("hi", status: .created).header(.eTag, "\"1\"").ending(.close))
        #expect(
            text
                == "HTTP/1.1 201 Created\r\nContent-Type: text/plain; charset=utf-8\r\nETag: \"1\"\r\n"
                + "Content-Length: 2\r\n\r\nhi"
        )
    }

    @Test func redirectNamesItsLocation() async throws {
        let text = try await exchange(.redirect(to: "/next").ending(.close))
        #expect(text == "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func ownContentLengthFieldIsNotDoubled() async throws {
        let text = try await exchange(.status(.ok).header(.contentLength, "7").ending(.close))
        #expect(text == "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n")
    }

    @Test func chunksAreSentAsChunks() async throws {
        let text = try await exchange(.chunks(["hello", "", "0123456789abcdefg"]).ending(.close))
        #expect(
            text
                == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n"
        )
    }

    @Test func bodyUntilCloseHasNoFraming() async throws {
        let text = try await exchange(.text("all").framed(.untilClose))
        #expect(
            text == "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nall"
        )
    }

    @Test func statusThatForbidsABodySendsNone() async throws {
        #expect(try await exchange(.text("no", status: .noContent).ending(.close)).hasSuffix("utf-8\r\n\r\n"))
        #expect(try await exchange(.text("no", status: .notModified).ending(.close)).hasSuffix("Length: 2\r\n\r\n"))
    }

    @Test func responseToHEADHasTheFieldsOfGET() async throws {
        let text = try await exchange(.text("body").ending(.close), request: "HEAD / HTTP/1.1\r\nHost: t\r\n\r\n")
        #expect(text.hasSuffix("Content-Length: 4\r\n\r\n"))
    }

    @Test func interimResponsesComeFirst() async throws {
        let text = try await exchange(
            .status(.ok).informing(.earlyHints, [.location: "/a"]).informing(.continue).ending(.close)
        )
        #expect(
            text == "HTTP/1.1 103 Early Hints\r\nLocation: /a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        )
    }

    @Test func interimResponsePrecedesAHeldFinalOne() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/", respond: .text("done").informing(.earlyHints).held(by: gate))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            #expect(try await client.read(through: "\r\n\r\n") == "HTTP/1.1 103 Early Hints\r\n\r\n")
            try await gate.waitForArrivals()
            gate.open()
            #expect(try await client.read(through: "done").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func clientReceivesItsExpected100BeforeItsBody() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .text("done"))
            let client = try await RawClient.connect(to: origin.port)
            try await client.send("PUT / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            #expect(try await client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send("body")
            #expect(try await client.read(through: "done").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(origin.requests.first?.text == "body")
        }
    }

    @Test func originCanIgnoreAnExpectation() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", responding: .afterRequestWithoutContinue, respond: .text("done"))
            let client = try await RawClient.connect(to: origin.port)
            try await client.send("PUT / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            try await client.send("body")
            #expect(try await client.read(through: "done").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func responseCanPrecedeTheRequestBody() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.put, "/", responding: .afterHead, respond: .text("too large", status: .contentTooLarge))
            origin.on(.get, "/next", respond: .text("next"))
            let client = try await RawClient.connect(to: origin.port)
            try await client.send("PUT / HTTP/1.1\r\nHost: t\r\nContent-Length: 8\r\n\r\nhalf")
            #expect(try await client.read(through: "too large").hasPrefix("HTTP/1.1 413 "))
            #expect(origin.requests.map(\.isComplete) == [false])
            // The rest of the body is read on, recorded, and not taken for the next request.
            try await client.send("rest")
            try await client.get("/next")
            #expect(try await client.read(through: "next").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(origin.requests.map(\.text) == ["halfrest", ""])
            #expect(origin.requests.map(\.isComplete) == [true, true])
        }
    }

    @Test func delayPassesOnTheTestsClockOnly() async throws {
        try await withScriptedOrigin { origin in
            let clock = ManualClock()
            origin.on("/", respond: .text("late").delayed(by: .seconds(3600), on: clock))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            try await clock.waitForSleepers()
            #expect(clock.nextDeadline?.offset == .seconds(3600))
            clock.advance(by: .seconds(3600))
            #expect(try await client.read(through: "late").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func delayOfAClientThatLeftIsForgotten() async throws {
        try await withScriptedOrigin { origin in
            let clock = ManualClock()
            origin.on("/") { _ in
                await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(1)) }
                return .status(.ok)
            }
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            try await clock.waitForSleepers()
            try await client.close()
            try await origin.waitForDisconnects(count: 1)
            #expect(clock.sleeperCount == 0)
        }
    }

    @Test func pausesAreAtTheirPositions() async throws {
        try await withScriptedOrigin { origin in
            let gates = (0..<5).map { _ in ScriptedGate() }
            origin.on(
                "/",
                respond: .chunks(["one", "two"])
                    .informing(.continue)
                    .pausing(.beforeAnything, .gate(gates[0]))
                    .pausing(.beforeHead, .gate(gates[1]))
                    .pausing(.beforeChunk(0), .gate(gates[2]))
                    .pausing(.betweenChunks, .gate(gates[3]))
                    .pausing(.beforeEnd, .gate(gates[4]))
            )
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            let parts = [
                "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "3\r\none\r\n", "3\r\ntwo\r\n", "0\r\n\r\n",
            ]
            for (gate, part) in zip(gates, parts) {
                try await gate.waitForArrivals()
                #expect(gate.arrivalCount == 1)
                gate.open()
                #expect(try await client.read(bytes: part.utf8.count) == part)
            }
        }
    }

    @Test func responseIsPacedByTheClock() async throws {
        try await withScriptedOrigin { origin in
            let clock = ManualClock()
            origin.on("/", respond: .raw("abcdefgh").dripping(bytes: 3, .delay(.seconds(1), on: clock)))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            for part in ["abc", "def", "gh"] {
                #expect(try await client.read(bytes: part.utf8.count) == part)
                if part == "gh" { break }
                try await clock.waitForSleepers()
                clock.advance(by: .seconds(1))
            }
            #expect(try await client.readToEnd().isEmpty)
        }
    }

    /// What a client reads from a new connection, to its end, after it sent `request`.
    private func exchange(
        _ response: ScriptedResponse,
        request: String = "GET / HTTP/1.1\r\nHost: t\r\n\r\n"
    ) async throws -> String {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: response)
            let client = try await RawClient.connect(to: origin.port)
            try await client.send(request)
            return try await client.readToEnd()
        }
    }
}
