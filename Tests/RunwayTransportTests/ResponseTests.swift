import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Responses that are as they should be, whole and streamed.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct ResponseTests {
    @Test func headAndBodyArriveAsSent() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .json(#"{"名":"上海"}"#).header(.eTag, "\"1\""))
            let network = try NetworkLayer(to: origin.baseURL)
            let raw = try await network.call(Fetch<GET>("a"))
            #expect(raw["名"].string == "上海")
            #expect(raw.response.status == .ok)
            #expect(raw.response.headerFields[.eTag] == "\"1\"")
        }
    }

    @Test(.except(.urlSession, "it joins fields of one name"))
    func fieldsOfOneNameStayApart() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("").rawHeader("X-Twice: 1").rawHeader("X-Twice: 2"))
            let raw = try await NetworkLayer(to: origin.baseURL).call(Fetch<GET>("a"))
            #expect(raw.response.headerFields[values: HTTPField.Name("x-twice")!] == ["1", "2"])
        }
    }

    @Test func responsesCookiesStayApartAndAreNotSent() async throws {
        try await withScriptedOrigin { origin in
            let cookies = [
                "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/", "b=2", "c=x, y; Secure", "d=; Max-Age=0",
            ]
            var response = ScriptedResponse.text("")
            for cookie in cookies { response = response.rawHeader("Set-Cookie: \(cookie)") }
            origin.on("/a", respond: response)
            let network = try NetworkLayer(to: origin.baseURL)
            let raw = try await network.call(Fetch<GET>("a"))
            #expect(raw.response.headerFields[values: .setCookie] == cookies)
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.allSatisfy { $0["cookie"] == nil })
        }
    }

    @Test(arguments: [400, 404, 500, 503])
    func refusalsHaveTheirStatusAndBody(code: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("no", status: .init(code: code)))
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.status?.code == code)
            #expect(error.rawData?.text == "no")
        }
    }

    @Test(arguments: [#"Basic realm="r""#, "Bearer", #"Digest realm="r", nonce="n""#, "", "Basic realm="])
    func challengeIsAResponseLikeAnyOther(challenge: String) async throws {
        try await withScriptedOrigin { origin in
            let refusal = ScriptedResponse.text("who?", status: .unauthorized)
            origin.on("/a", respond: refusal.header(.wwwAuthenticate, challenge))
            origin.on("/b", respond: .text("fine"))
            let network = try NetworkLayer(to: origin.baseURL)
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .needsAccessToken && error.rawData?.text == "who?")
            #expect(origin.requestCount == 1)
            #expect(try await network.call(Fetch<GET>("b")).text == "fine")
        }
    }

    @Test func largeStreamIsReadWhole() async throws {
        try await withScriptedOrigin { origin in
            let part = [UInt8](repeating: 7, count: 1 << 16)
            origin.on("/a", respond: ScriptedResponse(chunks: Array(repeating: part, count: 40)))
            let response = try await NetworkLayer(to: origin.baseURL).stream(Fetch<GET>("a"))
            #expect(try await response.body.collect(upTo: 40 << 16).count == 40 << 16)
        }
    }

    @Test func chunkedAndConnectionDelimitedResponsesAreRead() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/chunked", respond: .chunks(["one", "two", "三"]))
            origin.on("/until-close", respond: .text("to the end").framed(.untilClose))
            origin.on("/empty", respond: .status(.noContent))
            let network = try NetworkLayer(to: origin.baseURL)
            #expect(try await network.call(Fetch<GET>("chunked")).text == "onetwo三")
            #expect(try await network.call(Fetch<GET>("until-close")).text == "to the end")
            #expect(try await network.call(Fetch<GET>("empty")).bytes.isEmpty)
        }
    }

    @Test func informationalResponsesAreIgnored() async throws {
        try await withScriptedOrigin { origin in
            let hints = ScriptedResponse.text("final").informing(.init(code: 103), [.eTag: "early"])
            origin.on("/a", respond: hints.informing(.init(code: 102)))
            let network = try NetworkLayer(to: origin.baseURL)
            #expect(try await network.call(Fetch<GET>("a")).text == "final")
            #expect(try await network.call(Fetch<GET>("a")).text == "final")
            #expect(origin.connectionCount == 1)
        }
    }

    @Test(.exceptSessionOnLinux("it reads a streamed body whole before it sends it"))
    func responseBeforeTheRequestsEndEndsTheCall() async throws {
        try await withScriptedOrigin(limits: .init(bodyBytes: 0)) { origin in
            origin.on("/a", responding: .afterHead, respond: .text("too much", status: .contentTooLarge))
            let network = try NetworkLayer(to: origin.baseURL)
            let endless = BodyStream { { [UInt8](repeating: 1, count: 1 << 16) } }
            let error = try await network.failure(
                of: Fetch<POST>("a", .stream(endless, byteCount: nil, isReplayable: false)))
            #expect(error.kind == .refused)
            #expect(error.status == .contentTooLarge)
            // The rest of the body is of no use to anybody, and the connection with it.
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func streamPartsAreReturnedAsTheyArrive() async throws {
        try await withScriptedOrigin { origin in
            let gates = (1...2).map { _ in ScriptedGate() }
            origin.on(
                "/a",
                respond: .chunks(["one", "two", "three"])
                    .pausing(.beforeChunk(1), .gate(gates[0])).pausing(.beforeChunk(2), .gate(gates[1])))
            let network = try NetworkLayer(to: origin.baseURL)
            let response = try await network.stream(Fetch<GET>("a"))
            #expect(response.response.status == .ok)
            var parts = response.body.makeAsyncIterator()
            #expect(try await parts.next() == Array("one".utf8))
            gates[0].open()
            #expect(try await parts.next() == Array("two".utf8))
            gates[1].open()
            #expect(try await parts.next() == Array("three".utf8))
            #expect(try await parts.next() == nil)
        }
    }

    @Test(.exceptSessionOnLinux("it can't pause"))
    func aSlowReaderSlowsTheServerDown() async throws {
        try await withScriptedOrigin { origin in
            let sent = ScriptedGate()
            sent.open()
            let part = [UInt8](repeating: 7, count: 1 << 20)
            let large = ScriptedResponse(chunks: Array(repeating: part, count: 200)).pausing(
                .betweenChunks, .gate(sent))
            origin.on("/a", respond: large)
            let network = try NetworkLayer(to: origin.baseURL)
            let response = try await network.stream(Fetch<GET>("a"))
            var parts = response.body.makeAsyncIterator()
            var byteCount = try #require(try await parts.next()).count
            // What was sent without being asked for is what buffers take, a few megabytes.
            await #expect(throws: WaitTimedOut.self) {
                try await sent.waitForArrivals(count: 100, within: .milliseconds(500))
            }
            while let part = try await parts.next() { byteCount += part.count }
            #expect(byteCount == 200 << 20)
        }
    }

    @Test func streamMayExceedTheSizeOfWholeResponses() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .bytes([UInt8](repeating: 1, count: 5000)))
            let network = try NetworkLayer(to: origin.baseURL)
            let response = try await network.stream(SmallFetch(path: "a"))
            #expect(try await response.body.collect(upTo: 5000).count == 5000)
        }
    }

    @Test(arguments: [HTTPResponse.Status.notFound, .internalServerError])
    func refusedStreamFailsByItsHead(status: HTTPResponse.Status) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("no", status: status))
            let network = try NetworkLayer(to: origin.baseURL)
            let error = try await #require(throws: NetworkError.self) { try await network.stream(Fetch<GET>("a")) }
            #expect(error.kind == .refused)
            #expect(error.status == status)
        }
    }
}

/// Responses that are larger than their reader allows.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct ResponseSizeTests {
    @Test func aResponseOfExactlyTheLimitIsRead() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .bytes([UInt8](repeating: 1, count: 1000)))
            let network = try NetworkLayer(to: origin.baseURL)
            #expect(try await network.call(SmallFetch(path: "a")).bytes.count == 1000)
        }
    }

    @Test func declaredTooLargeResponseIsRefusedAtOnce() async throws {
        try await withScriptedOrigin { origin in
            // The body never comes: only the head can be what is refused.
            let gate = ScriptedGate()
            origin.on("/a", respond: .bytes([UInt8](repeating: 1, count: 1001)).pausing(.beforeChunk(0), .gate(gate)))
            try await expectTooLarge(origin)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func chunkedResponseIsRefusedWhenTooLarge() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            let text = String(repeating: "x", count: 600)
            origin.on("/a", respond: .chunks([text, text, "end"]).pausing(.beforeChunk(2), .gate(gate)))
            try await expectTooLarge(origin)
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func responsesAreMeasuredAfterDecoding() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .bytes(Coded.zeros).header(.contentEncoding, "gzip"))
            #expect(Coded.zeros.count < 1000)
            try await expectTooLarge(origin)
        }
    }

    private func expectTooLarge(
        _ origin: ScriptedOrigin, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let network = try NetworkLayer(to: origin.baseURL)
        let error = try await network.failure(of: SmallFetch(path: "a"), sourceLocation: sourceLocation)
        #expect(error.kind == .invalidResponse, sourceLocation: sourceLocation)
        #expect(
            error.detail
                == "The response of 127.0.0.1:\(origin.port) is larger than the 1000 bytes that its reader allows.",
            sourceLocation: sourceLocation)
    }

    @Test func headResponsesLengthIsNotItsSize() async throws {
        struct SmallHead: Endpoint {
            static let service = TestService.self
            static let method = HTTPRequest.Method.head
            static let maximumResponseByteCount = 1000
            var path: EndpointPath { "a" }
        }
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("").declaring(length: 9_000_000))
            let network = try NetworkLayer(to: origin.baseURL)
            let raw = try await network.call(SmallHead())
            #expect(raw.bytes.isEmpty)
            #expect(raw.response.headerFields[.contentLength] == "9000000")
        }
    }
}
