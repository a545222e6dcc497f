import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// What an origin records, in which order it responds, and how it ends.
@Suite(.timeLimit(.minutes(10)))
struct ScriptedOriginTests {
    @Test func requestIsRecordedByteForByte() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.put, "/a%2Fb", respond: .status(.noContent))
            let client = try await RawClient.connect(to: origin.port)
            let head =
                "PUT /a%2Fb?q=%E4%B8%8A&Q=~! HTTP/1.1\r\nhOsT:  test \r\nX-Twice: 1\r\nx-twice: 2\r\nX-Latin: \u{1}"
            let latin: [UInt8] = [0xE9, 13, 10]
            let rest = "X-UTF8: 上海\r\nContent-Length: 3\r\n\r\n"
            let bytes = Array(head.utf8.dropLast()) + latin + Array(rest.utf8)
            try await client.send(bytes + [0, 255, 13])
            _ = try await client.read(through: "\r\n\r\n")
            let request = try #require(origin.requests.first)
            #expect(request.head == bytes)
            #expect(request.method == .put)
            #expect(request.target == "/a%2Fb?q=%E4%B8%8A&Q=~!")
            #expect(request.version == "HTTP/1.1")
            #expect(
                request.fields.map(\.name) == ["hOsT", "X-Twice", "x-twice", "X-Latin", "X-UTF8", "Content-Length"]
            )
            #expect(request.fields.map(\.value) == ["test", "1", "2", "é", "上海", "3"])
            #expect(request.values(of: "X-TWICE") == ["1", "2"])
            #expect(request["host"] == "test")
            #expect(request.body == [0, 255, 13])
            #expect(request.isComplete && request.isScripted)
            #expect(request.serverName == nil)
        }
    }

    @Test func chunkedBodyIsRecordedDecodedWithItsTrailers() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/up", respond: .status(.ok))
            let client = try await RawClient.connect(to: origin.port)
            try await client.send("POST /up HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n")
            try await client.send("5;note=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n")
            _ = try await client.read(through: "\r\n\r\n")
            let request = try #require(origin.requests.first)
            #expect(request.text == "hello world")
            #expect(request.bodyByteCount == 11)
            #expect(request.trailers.map(\.description) == ["X-Sum: 11"])
        }
    }

    @Test func pipelinedRequestsGetResponsesInOrder() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on(.get, "/1", respond: .text("one").held(by: gate))
            origin.on(.get, "/2", respond: .text("two"))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/1")
            try await client.get("/2")
            try await gate.waitForArrivals()
            #expect(origin.requestCount == 1)
            gate.open()
            #expect(try await client.read(through: "one").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(try await client.read(through: "two").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(origin.requests.map(\.target) == ["/1", "/2"])
            #expect(origin.connectionCount == 1)
        }
    }

    @Test func bytesAfterAHeldResponseAreRead() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/first", respond: .status(.ok).held(by: gate))
            origin.on(.put, "/body", respond: .status(.ok))
            origin.on("/last", respond: .text("last"))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/first")
            try await gate.waitForArrivals()
            let body = String(repeating: "b", count: 1 << 20)
            for _ in 0..<16 {
                client.sendLater("PUT /body HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
            client.sendLater("GET /last HTTP/1.1\r\nHost: t\r\n\r\n")
            gate.open()
            _ = try await client.read(through: "last")
            #expect(origin.requestCount == 18)
            #expect(origin.requests.dropFirst().dropLast().allSatisfy { $0.text == body })
        }
    }

    @Test func connectionsHaveNumbers() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .status(.ok))
            for _ in 1...3 {
                let client = try await RawClient.connect(to: origin.port)
                try await client.get("/")
                _ = try await client.read(through: "\r\n\r\n")
            }
            #expect(origin.requests.map(\.connection) == [1, 2, 3])
            #expect(origin.connectionCount == 3)
            #expect(origin.openConnectionCount == 3)
        }
    }

    @Test(arguments: [("1.1", "Connection: Close\r\n"), ("1.0", "")])
    func connectionIsClosedWhenTheRequestWantsIt(version: String, field: String) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .text("bye"))
            let client = try await RawClient.connect(to: origin.port)
            try await client.send("GET / HTTP/\(version)\r\nHost: t\r\n\(field)\r\n")
            let response = try await client.readToEnd()
            #expect(response.contains("\r\nConnection: close\r\n"))
            #expect(response.hasSuffix("bye"))
            #expect(client.end == .finished)
        }
    }

    @Test func unscriptedRequestGets404AndIsUnexpected() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.get, "/known", respond: .status(.ok))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/unknown")
            let response = try await client.read(through: "/known.\n")
            #expect(response.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
            #expect(response.contains("No response is scripted for GET /unknown."))
            #expect(response.contains("GET /known"))
            #expect(origin.unexpectedRequests.map(\.target) == ["/unknown"])
            #expect(origin.requests.count == 1)
        }
    }

    @Test func queueRespondsInOrderAndRepeatsTheLast() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.get, "/", respond: [.text("a;"), .text("b;")])
            origin.on(.get, "/once", respond: [.text("c;")], repeatingLast: false)
            let client = try await RawClient.connect(to: origin.port)
            for expected in ["a;", "b;", "b;"] {
                try await client.get("/")
                #expect(try await client.read(through: expected).hasSuffix("\r\n\r\n\(expected)"))
            }
            try await client.get("/once")
            #expect(try await client.read(through: "c;").hasPrefix("HTTP/1.1 200"))
            try await client.get("/once")
            #expect(try await client.read(through: "used up").hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test func moreExactLineOfTheScriptWins() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .text("any method|"))
            origin.on(.get, "/x", respond: .text("method|"))
            origin.on(.get, "/x?y=1", respond: .text("target|"))
            origin.otherwise(respond: .text("otherwise|"))
            let client = try await RawClient.connect(to: origin.port)
            for (request, expected) in [
                ("GET /x", "method|"), ("GET /x?y=1", "target|"), ("GET /x?y=2", "method|"), ("PUT /x", "any method|"),
                ("GET http://host:1/x?y=2", "method|"), ("GET /z", "otherwise|"),
            ] {
                try await client.send("\(request) HTTP/1.1\r\nHost: t\r\n\r\n")
                let response = try await client.read(through: "|")
                #expect(response.hasSuffix("\r\n\r\n\(expected)"), "\(request)")
            }
            #expect(origin.unexpectedRequests.isEmpty)
        }
    }

    @Test func laterLineReplacesAnEarlierEqualOne() async throws {
        try await withScriptedOrigin { origin in
            let client = try await RawClient.connect(to: origin.port)
            for word in ["old", "new"] {
                origin.on(.get, "/", respond: .text(word))
                try await client.get("/")
                #expect(try await client.read(through: word).hasSuffix("\r\n\r\n\(word)"))
            }
        }
    }

    @Test func closureRespondsByTheRequest() async throws {
        try await withScriptedOrigin { origin in
            struct Refusal: Error {}
            origin.on(.post, "/echo") { .bytes($0.body, contentType: $0["Content-Type"] ?? "none") }
            origin.on("/throws") { _ in throw Refusal() }
            let client = try await RawClient.connect(to: origin.port)
            try await client.send(
                "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Type: a/b\r\nContent-Length: 4\r\n\r\nbody"
            )
            #expect(try await client.read(through: "\r\n\r\nbody").contains("Content-Type: a/b\r\n"))
            try await client.get("/throws")
            let response = try await client.read(through: "Refusal()")
            #expect(response.hasPrefix("HTTP/1.1 500 "))
        }
    }

    @Test(arguments: [
        "GET  / HTTP/1.1\r\nHost: t\r\n\r\n", "GET / HTTP/2.0\r\nHost: t\r\n\r\n", "GET / HTTP/1.1\nHost: t\n\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: t\r\nHost: u\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : t\r\n\r\n", "GET / HTTP/1.1\r\nHost: t\r\n folded\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: +1\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: t\r\nX: a\u{0}b\r\n\r\n", "GET /上 HTTP/1.1\r\nHost: t\r\n\r\n",
    ])
    func malformedRequestIsRefusedAndRecorded(bytes: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .status(.ok))
            let client = try await RawClient.connect(to: origin.port)
            try await client.send(bytes)
            let response = try await client.readToEnd()
            #expect(response.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(client.end == .finished)
            let malformed = try #require(origin.malformedRequests.first)
            #expect(malformed.hasPrefix("Connection 1: "))
            #expect(response.hasSuffix("\r\n\r\n\(malformed.dropFirst("Connection 1: ".count))\n"))
            #expect(origin.requests.allSatisfy { !$0.isComplete })
        }
    }

    @Test func abortedRequestIsRecordedAsIncomplete() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/up", respond: .status(.ok))
            let first = try await RawClient.connect(to: origin.port)
            try await first.send("PUT /up HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nhalf")
            try await first.close()
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.requests.map(\.isComplete) == [false])
            #expect(origin.requests.first?.text == "half")
            let second = try await RawClient.connect(to: origin.port)
            try await second.send("PUT /up HT")
            try await second.close()
            try await origin.waitForDisconnects(count: 2)
            #expect(origin.malformedRequests.map { $0.hasPrefix("Connection 2: ") } == [true])
        }
    }

    @Test func originStoresWithinLimitsAndCountsTheRest() async throws {
        let limits = ScriptedOrigin.Limits(requests: 2, bodyBytes: 6, headBytes: 100)
        try await withScriptedOrigin(limits: limits) { origin in
            origin.otherwise(respond: .status(.ok))
            let client = try await RawClient.connect(to: origin.port)
            for _ in 1...3 {
                try await client.send("PUT / HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nbody")
                _ = try await client.read(through: "\r\n\r\n")
            }
            #expect(origin.requestCount == 3)
            #expect(origin.requests.map(\.text) == ["body", "bo"])
            #expect(origin.requests.map(\.bodyByteCount) == [4, 4])
            try await client.send("GET / HTTP/1.1\r\nHost: t\r\nX: \(String(repeating: "x", count: 100))\r\n\r\n")
            #expect(try await client.readToEnd().contains("more than 100 bytes"))
        }
    }

    @Test func cancelledClientIsSeenAsADisconnect() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on(.get, "/", respond: .text("late").held(by: gate))
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            try await gate.waitForArrivals()
            #expect(origin.openConnectionCount == 1)
            try await client.close()
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.openConnectionCount == 0)
            #expect(!gate.isOpen)
        }
    }

    @Test func waitsTimeOutWithASentence() async throws {
        try await withScriptedOrigin { origin in
            let error = await #expect(throws: WaitTimedOut.self) {
                try await origin.waitForRequests(count: 1, within: .milliseconds(1))
            }
            #expect(error?.description == "Gave up after 0.001 seconds: waited for 1 requests, saw 0.")
            await #expect(throws: WaitTimedOut.self) {
                try await origin.waitForDisconnects(count: 1, within: .milliseconds(1))
            }
            await #expect(throws: WaitTimedOut.self) {
                try await origin.waitForConnections(count: 1, within: .milliseconds(1))
            }
        }
    }

    @Test func waitForRequestsReturnsThem() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .status(.ok))
            let client = try await RawClient.connect(to: origin.port)
            async let requests = origin.waitForRequests(count: 2)
            try await client.get("/1")
            try await client.get("/2")
            #expect(try await requests.map(\.target) == ["/1", "/2"])
            try await origin.waitForConnections(count: 1)
        }
    }

    @Test func shutdownCutsEveryConnectionAndCanBeRepeated() async throws {
        let origin = try await ScriptedOrigin.start()
        let gate = ScriptedGate()
        origin.on("/", respond: .text("never").held(by: gate))
        let busy = try await RawClient.connect(to: origin.port)
        let idle = try await RawClient.connect(to: origin.port)
        try await busy.get("/")
        try await gate.waitForArrivals()
        try await origin.waitForConnections(count: 2)
        let waiting = Task { try await origin.waitForRequests(count: 2) }
        async let first: Void = origin.shutdown()
        async let second: Void = origin.shutdown()
        _ = await (first, second)
        await origin.shutdown()
        #expect(origin.openConnectionCount == 0)
        #expect(try await busy.readToEnd().isEmpty)
        #expect(try await idle.readToEnd().isEmpty)
        await #expect(throws: ScriptedOrigin.ShutDownError.self) { try await waiting.value }
        #expect(origin.requests.count == 1)
        await #expect(throws: (any Error).self) { try await RawClient.connect(to: origin.port) }
    }

    @Test func forgottenOriginCutsItsConnections() async throws {
        var origin: ScriptedOrigin? = try await ScriptedOrigin.start()
        let port = try #require(origin?.port)
        let client = try await RawClient.connect(to: port)
        try await origin?.waitForConnections(count: 1)
        origin = nil
        #expect(try await client.readToEnd().isEmpty)
    }

    @Test func originIsShutDownWhenItsScopeThrows() async throws {
        struct Failure: Error {}
        var port = 0
        await #expect(throws: Failure.self) {
            try await withScriptedOrigin { origin in
                port = origin.port
                throw Failure()
            }
        }
        let closedPort = port
        await #expect(throws: (any Error).self) { try await RawClient.connect(to: closedPort) }
    }

    @Test func originsDoNotKnowOfEachOther() async throws {
        try await withScriptedOrigin { first in
            try await withScriptedOrigin { second in
                #expect(first.port != second.port)
                #expect(first.baseURL == "http://127.0.0.1:\(first.port)")
                first.on("/", respond: .text("1"))
                let client = try await RawClient.connect(to: second.port)
                try await client.get("/")
                #expect(try await client.read(through: "\r\n").hasPrefix("HTTP/1.1 404"))
                #expect(first.requestCount == 0)
            }
        }
    }
}
