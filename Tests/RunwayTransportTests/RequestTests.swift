import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// What arrives at the server is what was asked for.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct RequestTests {
    private func received<Method: TestMethod>(_ fetch: Fetch<Method>) async throws -> ReceivedRequest {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try NetworkLayer(to: origin.baseURL)
            _ = try await network.call(fetch)
            return try #require(origin.requests.first)
        }
    }

    @Test func everyMethodArrivesAsItself() async throws {
        #expect(try await received(Fetch<GET>("a")).method == .get)
        #expect(try await received(Fetch<HEAD>("a")).method == .head)
        #expect(try await received(Fetch<POST>("a")).method == .post)
        #expect(try await received(Fetch<PUT>("a")).method == .put)
        #expect(try await received(Fetch<PATCH>("a")).method == .patch)
        #expect(try await received(Fetch<DELETE>("a")).method == .delete)
        #expect(try await received(Fetch<OPTIONS>("a")).method == .options)
        #expect(try await received(Fetch<TRACE>("a")).method == .trace)
    }

    @Test func targetAndHeaderFieldsArriveByteForByte() async throws {
        var fetch = Fetch<GET>("列表/\("a/b c")", headers: ["X-Case": "Mixed, \"quoted\"; é"])
        fetch.parameters = ["城市": "上海", "空": "a b+c&d"]
        let request = try await received(fetch)
        #expect(
            request.target
                == "/%E5%88%97%E8%A1%A8/a%2Fb%20c?%E5%9F%8E%E5%B8%82=%E4%B8%8A%E6%B5%B7&%E7%A9%BA=a%20b%2Bc%26d")
        #expect(request["X-Case"] == "Mixed, \"quoted\"; é")
    }

    @Test func urlsAreEscapedOnce() async throws {
        struct Bracketed: Endpoint {
            static let service = TestService.self
            static let encoding = ParameterEncoding.query(QueryStyle(arrays: .brackets))
            var path: EndpointPath { "a%zz|%41" }
            var parameters: Parameters { ["城": ["上", "b"], "price": ["low": 1]] }
        }
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try NetworkLayer(to: origin.baseURL)
            _ = try await network.call(Bracketed())
            let request = try #require(origin.requests.first)
            #expect(request.path == "/a%25zz%7C%41")
            #expect(request.query == "%E5%9F%8E%5B%5D=%E4%B8%8A&%E5%9F%8E%5B%5D=b&price%5Blow%5D=1")
        }
    }

    @Test(.except(.urlSession, "the system names the codings"))
    func transportAsksForTheCodingsThatItUndoes() async throws {
        let request = try await received(Fetch<GET>("a"))
        #expect(request.values(of: "accept-encoding") == ["gzip, deflate"])
        #expect(request.values(of: "user-agent") == ["runway"])
        #expect(request.values(of: "host").count == 1)
    }

    @Test func callersFieldsReplaceTheTransports() async throws {
        let request = try await received(
            Fetch<GET>("a", headers: ["Accept-Encoding": "identity", "User-Agent": "listings/1"]))
        #expect(request.values(of: "accept-encoding") == ["identity"])
        #expect(request.values(of: "user-agent") == ["listings/1"])
    }

    @Test func wholeBodiesArriveWithTheirLength() async throws {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let request = try await received(Fetch<PUT>("a", .bytes(body)))
        #expect(request.body == body)
        #expect(request["content-length"] == "300000")
        #expect(request["transfer-encoding"] == nil)
    }

    @Test func emptyBodiesOfPostSayTheirLength() async throws {
        #expect(try await received(Fetch<POST>("a"))["content-length"] == "0")
        #expect(try await received(Fetch<GET>("a"))["content-length"] == nil)
    }

    @Test func largeStreamedBodiesArriveByteForByte() async throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let pieces = stride(from: 0, to: body.count, by: 70_001).map { Array(body[$0...].prefix(70_001)) }
        let stream = BodyStream {
            var rest = pieces[...]
            return { rest.popFirst() }
        }
        let request = try await received(
            Fetch<POST>("a", .stream(stream, byteCount: body.count, isReplayable: true)))
        #expect(request.body == body)
    }

    @Test func streamedBodiesOfKnownLengthArriveWithIt() async throws {
        let request = try await received(
            Fetch<POST>("a", .stream(Self.parts(["one", "two", "三"]), byteCount: 9, isReplayable: true)))
        #expect(request.text == "onetwo三")
        #expect(request["content-length"] == "9")
        #expect(request["transfer-encoding"] == nil)
    }

    @Test(.exceptSessionOnLinux("it reads a streamed body whole before it sends it"))
    func streamedBodiesOfUnknownLengthArriveInChunks() async throws {
        let request = try await received(
            Fetch<POST>("a", .stream(Self.parts(["one", "", "two"]), byteCount: nil, isReplayable: true)))
        #expect(request.text == "onetwo")
        #expect(request["content-length"] == nil)
        #expect(request["transfer-encoding"] == "chunked")
    }

    @Test func callersWrongLengthOrCodingIsCorrected() async throws {
        let request = try await received(
            Fetch<POST>(
                "a", .bytes(Array("four".utf8)), headers: ["Content-Length": "9", "Transfer-Encoding": "chunked"]))
        #expect(request.values(of: "content-length") == ["4"])
        #expect(request["transfer-encoding"] == nil)
        #expect(request.text == "four")
    }

    @Test(arguments: [3, 20])
    func aStreamOfAWrongLengthIsInvalid(byteCount: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try NetworkLayer(to: origin.baseURL)
            let body = RequestBody.stream(Self.parts(["one", "two"]), byteCount: byteCount, isReplayable: true)
            let error = try await network.failure(of: Fetch<POST>("a", body))
            #expect(error.kind == .invalidParameters)
            #expect(error.detail == "The body of the request does not have the announced length.")
            #expect(origin.requests.allSatisfy { !$0.isComplete })
        }
    }

    @Test func streamFailsWithTheKindOfItsError() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let body = BodyStream { { throw NetworkError(.storage, in: .transporting, "The film is gone.") } }
            let error = try await NetworkLayer(to: origin.baseURL).failure(
                of: Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: false)))
            #expect(error.kind == .storage && error.detail == "The film is gone.")
        }
    }

    @Test func aStreamThatThrowsFailsTheCall() async throws {
        struct DiskFull: Error {}
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try NetworkLayer(to: origin.baseURL)
            let body = BodyStream { { throw DiskFull() } }
            let error = try await network.failure(
                of: Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: false)))
            #expect(error.kind == .invalidParameters)
            #expect(error.detail == "The body of the request could not be read: DiskFull.")
            #expect(error.underlying is DiskFull)
        }
    }

    @Test(.exceptSessionOnLinux("it reads a streamed body whole before it sends it"))
    func serverThatReadsSlowlySlowsTheStreamDown() async throws {
        let produced = ScriptedGate()
        produced.open()
        let part = [UInt8](repeating: 7, count: 1 << 20)
        let body = BodyStream {
            var rest = 200
            return {
                guard rest > 0 else { return nil }
                rest -= 1
                try await produced.pass()
                return part
            }
        }
        try await withScriptedOrigin(limits: .init(bodyBytes: 0)) { origin in
            // The connection is never read: what the client can get rid of is what the sockets' buffers take.
            let gate = ScriptedGate()
            origin.onConnections([.respond(.raw().held(by: gate).ending(.stayOpen))])
            let network = try NetworkLayer(to: origin.baseURL)
            let call = Task {
                try await network.call(Fetch<POST>("a", .stream(body, byteCount: 200 << 20, isReplayable: true)))
            }
            try await produced.waitForArrivals(count: 2)
            await #expect(throws: WaitTimedOut.self) {
                try await produced.waitForArrivals(count: 100, within: .milliseconds(500))
            }
            call.cancel()
            _ = await call.result
        }
    }

    @Test func traceWithABodyIsRefusedUnsent() async throws {
        try await withScriptedOrigin { origin in
            let network = try NetworkLayer(to: origin.baseURL)
            let error = try await network.failure(of: Fetch<TRACE>("a", .bytes([1])))
            #expect(error.kind == .invalidParameters)
            #expect(origin.connectionCount == 0)
        }
    }

    static func parts(_ texts: [String]) -> BodyStream {
        BodyStream {
            var rest = texts[...]
            return { rest.popFirst().map { Array($0.utf8) } }
        }
    }
}
