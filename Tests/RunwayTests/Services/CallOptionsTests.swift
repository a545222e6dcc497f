import HTTPTypes
import Runway
import RunwayTesting
import Testing

/// What one call may have other than its endpoint says.
@Suite(.timeLimit(.minutes(5)))
struct CallOptionsTests {
    private struct Cached: Endpoint {
        static let service = Library.self
        static let cache = CachePolicy.timeToLive(.seconds(60))
        var path: EndpointPath { "cached" }
        var headers: [String: String] { ["Accept": "text/html"] }
    }

    private let layer = StubbedLayer { _ in .json("{}") }

    @Test func headersReplaceThoseOfEndpointAndService() async throws {
        layer.network.configure(Library.self) { $0.commonHeaders = ["X-Client": "app", "X-Plan": "a"] }
        let options = CallOptions(headers: ["accept": "text/plain", "x-plan": "b"])
        _ = try await layer.network.call(QueryCall(fields: ["Accept": "text/html", "X-Own": "1"]), options: options)
        let fields = try #require(layer.transport.requests.first).head.headerFields
        #expect(fields[values: .accept] == ["text/plain"])
        #expect(
            ["X-Plan", "X-Client", "X-Own"].map { HTTPField.Name($0).map { fields[values: $0] } } == [
                ["b"], ["app"], ["1"],
            ])
    }

    @Test func headersAreRedactedByTheirNames() async throws {
        let fields = ["Authorization": "Bearer hunter2", "X-Api-Key": "hunter2", "X-Trace": "7"]
        _ = try await layer.network.call(QueryCall(), options: CallOptions(headers: fields))
        #expect(layer.transport.requests.first?.head.headerFields[.authorization] == "Bearer hunter2")
        let attempt = try #require(try await layer.record().attempts.first)
        #expect(attempt.headerFields[.authorization] == "[redacted]")
        #expect(!"\(attempt)\(attempt.curlCommand)".contains("hunter2"))
    }

    @Test func authenticatingHeadersDoNotFollowARedirect() async throws {
        let layer = StubbedLayer { request in
            request.head.authority == "library.test" ? .redirect(.found, to: "https://thief.test/") : .json("{}")
        }
        let fields = ["X-Invented-Token": "hunter2", "Accept": "text/plain"]
        _ = try await layer.network.call(QueryCall(), options: CallOptions(headers: fields))
        let sent = layer.transport.requests.map { "\($0.head.headerFields)" }
        #expect(sent.count == 2 && sent[0].contains("hunter2") && !sent[1].contains("hunter2"))
        #expect(sent[1].contains("text/plain"))
    }

    @Test func headersDistinguishStoredResponses() async throws {
        let chinese = CallOptions(headers: ["accept-language": "zh"])
        for options in [.standard, chinese, .standard, chinese] {
            _ = try await layer.network.call(Cached(), options: options)
        }
        #expect(layer.transport.requests.count == 2)
        _ = try await layer.network.call(Cached(), options: CallOptions(headers: ["accept-language": "en"]))
        #expect(layer.transport.requests.count == 3)
    }

    @Test func malformedHeaderFailsTheCall() async throws {
        let options = CallOptions(headers: ["X-Secret": "hunter2\r\nX: y"])
        let error = await #expect(throws: NetworkError.self) {
            try await layer.network.call(QueryCall(), options: options)
        }
        #expect(error?.kind == .invalidParameters && error?.detail.contains("hunter2") == false)
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func headersAreAddedToAnExchange() async throws {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "library.test", path: "/")
        _ = try await layer.network.exchange(
            Request(head: head), with: Library.self, options: CallOptions(headers: ["Accept": "text/plain"]))
        #expect(layer.transport.requests.first?.head.headerFields[.accept] == "text/plain")
    }

    @Test func deadlineReplacesThatOfTheEndpoint() async throws {
        let transport = StubbornTransport()
        let clock = ManualClock()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock),
            limits: LayerLimits(admission: .none, retrying: .none))
        let call = Task { try await network.call(QueryCall(), options: CallOptions(deadline: .seconds(600))) }
        try await transport.gate.waitForArrivals()
        try await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(600))
        clock.advance(by: .seconds(600))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
        transport.gate.open()
    }
}
