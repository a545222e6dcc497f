import HTTPTypes
import Runway
import RunwayJSON
import RunwayTestServer
import RunwayTesting
import Testing

/// Answers over a session, whole and streamed.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionAnswerTests {
    @Test func headAndBodyOfAnAnswerAreGivenAsTheyCame() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .json(#"{"名":"上海"}"#).header(.eTag, "\"1\""))
            let raw = try await NetworkLayer(overURLSessionTo: origin.baseURL).call(Fetch<GET>("a"))
            #expect(raw["名"].string == "上海")
            #expect(raw.response.status == .ok)
            #expect(raw.response.headerFields[.eTag] == "\"1\"")
        }
    }

    @Test func cookiesOfOneAnswerStayApart() async throws {
        try await withScriptedOrigin { origin in
            let cookies = [
                "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/", "b=2", "c=x, y; Secure", "d=; Max-Age=0",
            ]
            var response = ScriptedResponse.text("")
            for cookie in cookies { response = response.rawHeader("Set-Cookie: \(cookie)") }
            origin.on("/a", respond: response)
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            let raw = try await network.call(Fetch<GET>("a"))
            #expect(raw.response.headerFields[values: .setCookie] == cookies)
            // And none of them is sent.
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.allSatisfy { $0["cookie"] == nil })
        }
    }

    @Test func chunkedAnswersAndThoseThatEndWithTheirConnectionAreRead() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/chunked", respond: .chunks(["one", "two", "三"]))
            origin.on("/until-close", respond: .text("to the end").framed(.untilClose))
            origin.on("/empty", respond: .status(.noContent))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            #expect(try await network.call(Fetch<GET>("chunked")).text == "onetwo三")
            #expect(try await network.call(Fetch<GET>("until-close")).text == "to the end")
            #expect(try await network.call(Fetch<GET>("empty")).bytes.isEmpty)
        }
    }

    @Test func informationalAnswersArePassedOver() async throws {
        try await withScriptedOrigin { origin in
            let hints = ScriptedResponse.text("final").informing(.init(code: 103), [.eTag: "early"])
            origin.on("/a", respond: hints)
            let raw = try await NetworkLayer(overURLSessionTo: origin.baseURL).call(Fetch<GET>("a"))
            #expect(raw.text == "final" && raw.response.status == .ok)
        }
    }

    @Test func connectionsAreReused() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("again"))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            for _ in 0..<5 { #expect(try await network.call(Fetch<GET>("a")).text == "again") }
            #expect(origin.connectionCount == 1)
        }
    }

    @Test func partsOfAStreamAreGivenAsTheyComeIn() async throws {
        try await withScriptedOrigin { origin in
            let gates = (1...2).map { _ in ScriptedGate() }
            origin.on(
                "/a",
                respond: .chunks(["one", "two", "three"])
                    .pausing(.beforeChunk(1), .gate(gates[0])).pausing(.beforeChunk(2), .gate(gates[1])))
            let answer = try await NetworkLayer(overURLSessionTo: origin.baseURL).stream(Fetch<GET>("a"))
            var parts = answer.body.makeAsyncIterator()
            #expect(try await parts.next() == Array("one".utf8))
            gates[0].open()
            #expect(try await parts.next() == Array("two".utf8))
            gates[1].open()
            #expect(try await parts.next() == Array("three".utf8))
            #expect(try await parts.next() == nil)
        }
    }

    #if canImport(FoundationNetworking)
        @Test func aReaderThatFallsTooFarBehindGetsAnError() async throws {
            try await withScriptedOrigin { origin in
                let part = [UInt8](repeating: 7, count: 1 << 16)
                origin.on("/a", respond: ScriptedResponse(chunks: Array(repeating: part, count: 100)))
                let network = try NetworkLayer(
                    overURLSessionTo: origin.baseURL, .init(maximumBufferedByteCount: 200_000))
                let answer = try await network.stream(Fetch<GET>("a"))
                try await origin.waitForDisconnects(count: 1)
                let error = try await answer.body.failure()
                #expect(error.kind == .invalidResponse)
                #expect(error.detail.contains("more than 200000 bytes waited"))
            }
        }
    #endif

    @Test func aLargeStreamIsReadWhole() async throws {
        try await withScriptedOrigin { origin in
            let part = [UInt8](repeating: 7, count: 1 << 16)
            origin.on("/a", respond: ScriptedResponse(chunks: Array(repeating: part, count: 40)))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            let answer = try await network.stream(Fetch<GET>("a"))
            #expect(try await answer.body.collect(upTo: 40 << 16).count == 40 << 16)
        }
    }

    @Test func codingsAreUndoneAndTheHeadSpeaksOfThePlainBody() async throws {
        for (coding, body) in [("gzip", Coded.gzip), ("deflate", Coded.deflate)] {
            try await withScriptedOrigin { origin in
                origin.on("/a", respond: .bytes(body).header(.contentEncoding, coding))
                let raw = try await NetworkLayer(overURLSessionTo: origin.baseURL).call(Fetch<GET>("a"))
                #expect(raw.bytes == Array(Coded.text.utf8))
                #expect(raw.response.headerFields[.contentEncoding] == nil)
                #expect(raw.response.headerFields[.contentLength] == nil)
            }
        }
    }

    @Test func brokenCodingsFailAsInvalidAnswers() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .bytes(Array("not gzip at all".utf8)).header(.contentEncoding, "gzip"))
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.kind == .invalidResponse)
        }
    }

    @Test(arguments: ["bytes", "chunks", "gzip"])
    func answersLargerThanTheirReaderAllowsAreRefused(kind: String) async throws {
        try await withScriptedOrigin { origin in
            let response: ScriptedResponse =
                switch kind {
                case "bytes": .bytes([UInt8](repeating: 1, count: 1001))
                case "chunks": .chunks([String(repeating: "x", count: 600), String(repeating: "x", count: 600)])
                default: .bytes(Coded.zeros).header(.contentEncoding, "gzip")
                }
            origin.on("/a", respond: response)
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(of: SmallFetch(path: "a"))
            #expect(error.kind == .invalidResponse)
            #expect(error.detail.contains("larger than the 1000 bytes that its reader allows"))
        }
    }

    @Test func aRedirectIsGivenToTheLayerWhichFollowsIt() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("moved", status: .found).header(.location, "/b"))
            origin.on("/b", respond: .text("here"))
            let records = RecordCollector()
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL, sinks: [records])
            #expect(try await network.call(Fetch<GET>("a")).text == "here")
            let record = try #require(try await records.records(count: 1).first)
            #expect(record.attempts.map { $0.status?.code } == [302, 200])
        }
    }

    @Test(arguments: [400, 404, 500, 503])
    func refusalsAreGivenWithTheirStatus(code: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("no", status: .init(code: code)))
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.status?.code == code)
            #expect(error.rawData?.text == "no")
        }
    }

    @Test(arguments: [#"Basic realm="r""#, "Bearer", #"Digest realm="r", nonce="n""#, "", "Basic realm="])
    func aChallengeIsAnAnswerLikeAnyOther(challenge: String) async throws {
        try await withScriptedOrigin { origin in
            let answer = ScriptedResponse.text("who?", status: .unauthorized)
            origin.on("/a", respond: answer.header(.wwwAuthenticate, challenge))
            origin.on("/b", respond: .text("fine"))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .needsAccessToken && error.rawData?.text == "who?")
            #expect(origin.requestCount == 1)
            #expect(try await network.call(Fetch<GET>("b")).text == "fine")
        }
    }
}
