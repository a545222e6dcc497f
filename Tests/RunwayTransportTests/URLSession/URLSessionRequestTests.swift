import HTTPTypes
import Runway
import RunwayTestServer
import Testing

/// What arrives at the server over a session is what was asked for.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionRequestTests {
    private func received<Method: TestMethod>(_ fetch: Fetch<Method>) async throws -> ReceivedRequest {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            _ = try await NetworkLayer(overURLSessionTo: origin.baseURL).call(fetch)
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

    @Test func fieldsOfTheCallerReplaceThoseOfTheSession() async throws {
        let request = try await received(
            Fetch<GET>("a", headers: ["Accept-Encoding": "identity", "User-Agent": "listings/1"]))
        #expect(request.values(of: "accept-encoding") == ["identity"])
        #expect(request.values(of: "user-agent") == ["listings/1"])
        let plain = try await received(Fetch<GET>("a"))
        #expect(plain.values(of: "user-agent") == ["runway"])
        #expect(plain["accept-encoding"]?.contains("gzip") == true)
        let part = try await received(Fetch<GET>("a", headers: ["Range": "bytes=0-1"]))
        #expect(part["accept-encoding"] == "identity")
    }

    @Test func wholeBodiesArriveWithTheirLength() async throws {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let request = try await received(Fetch<PUT>("a", .bytes(body)))
        #expect(request.body == body)
        #expect(request["content-length"] == "300000")
        #expect(request["transfer-encoding"] == nil)
        #expect(request["content-type"] == "application/octet-stream")
    }

    @Test func emptyBodiesOfPostSayTheirLength() async throws {
        #expect(try await received(Fetch<POST>("a"))["content-length"] == "0")
        #expect(try await received(Fetch<GET>("a"))["content-length"] == nil)
    }

    @Test(arguments: [9, nil])
    func streamedBodiesArriveWhole(byteCount: Int?) async throws {
        let parts = RequestTests.parts(["one", "", "two", "三"])
        let request = try await received(
            Fetch<POST>("a", .stream(parts, byteCount: byteCount, isReplayable: true)))
        #expect(request.text == "onetwo三")
        #expect((request["content-length"] == nil) != (request["transfer-encoding"] == nil))
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

    @Test(arguments: [3, 20])
    func aStreamThatIsNotAsLongAsItSaidFailsAsInvalidParameters(byteCount: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let body = RequestBody.stream(
                RequestTests.parts(["one", "two"]), byteCount: byteCount, isReplayable: true)
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(of: Fetch<POST>("a", body))
            #expect(error.kind == .invalidParameters)
            #expect(error.detail == "The body of the request is not as long as it was said to be.")
            #expect(origin.requests.allSatisfy { !$0.isComplete })
        }
    }

    @Test func aStreamThatThrowsFailsTheCallAndNamesWhatItThrew() async throws {
        struct DiskFull: Error {}
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let body = BodyStream { { throw DiskFull() } }
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(
                of: Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: false)))
            #expect(error.kind == .invalidParameters)
            #expect(error.detail == "The body of the request could not be read: DiskFull.")
            #expect(error.underlying is DiskFull)
        }
    }

    @Test func aStreamThatThrowsAnErrorOfTheLayerFailsTheCallWithItsKind() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let body = BodyStream { { throw NetworkError(.storage, in: .transporting, "The film is gone.") } }
            let error = try await NetworkLayer(overURLSessionTo: origin.baseURL).failure(
                of: Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: false)))
            #expect(error.kind == .storage && error.detail == "The film is gone.")
        }
    }

    #if canImport(FoundationNetworking)
        @Test func aStreamThatIsLargerThanWhatCanBeKeptIsRefusedBeforeItLeaves() async throws {
            try await withScriptedOrigin { origin in
                let endless = BodyStream { { [UInt8](repeating: 1, count: 1000) } }
                let network = try NetworkLayer(overURLSessionTo: origin.baseURL, .init(maximumSpooledByteCount: 10_000))
                let error = try await network.failure(
                    of: Fetch<POST>("a", .stream(endless, byteCount: nil, isReplayable: false)))
                #expect(error.kind == .invalidParameters && error.sending == .notSent)
                #expect(origin.connectionCount == 0)
            }
        }
    #endif

    @Test func aStreamThatWaitsForAnotherCallOfTheSameTransportDoesNotStandInItsWay() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("outer"))
            origin.on("/b", respond: .text("inner"))
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            let body = BodyStream {
                var isFirst = true
                return {
                    defer { isFirst = false }
                    return isFirst ? try await network.call(Fetch<GET>("b")).bytes : nil
                }
            }
            let raw = try await network.call(Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: true)))
            #expect(raw.text == "outer")
            #expect(origin.requests.contains { $0.text == "inner" })
        }
    }

    @Test func bodiesThatAMethodCannotHaveAreRefusedBeforeTheyLeave() async throws {
        try await withScriptedOrigin { origin in
            let network = try NetworkLayer(overURLSessionTo: origin.baseURL)
            let trace = try await network.failure(of: Fetch<TRACE>("a", .bytes([1])))
            #expect(trace.kind == .invalidParameters && trace.sending == .notSent)
            let get = try await network.failure(of: Fetch<GET>("a", .bytes([1])))
            #expect(get.kind == .invalidParameters && get.sending == .notSent)
            #expect(origin.connectionCount == 0)
        }
    }
}
