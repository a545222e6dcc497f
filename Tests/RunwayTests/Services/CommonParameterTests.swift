import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Common parameters that the service makes for each call.
@Suite(.timeLimit(.minutes(5)))
struct CommonParameterTests {
    /// A layer whose calls are numbered by the common parameter `n`.
    private func layer(
        unkeyed: Set<String> = [], retrying: AttemptLimits = .none,
        respond: @escaping StubTransport.Respond = { _ in .json("{}") }
    ) -> StubbedLayer {
        let layer = StubbedLayer(retrying: retrying, response: respond)
        let numbers = Numbers()
        layer.network.configure(Library.self) { settings in
            settings.makeCommonParameters = { ["n": .integer(Int64(numbers.next()))] }
            settings.unkeyedParameters = unkeyed
        }
        return layer
    }

    @Test func theyAreMadeAnewForEachCall() async throws {
        let layer = layer()
        for _ in 0..<3 { _ = try await layer.network.call(QueryCall()) }
        #expect(layer.transport.requests.map(\.head.path) == (1...3).map { "/v1/query?n=\($0)" })
    }

    @Test func allAttemptsOfACallHaveTheSame() async throws {
        let layer = layer(retrying: .retrying) { _ throws(NetworkError) in
            throw NetworkError(.noNetwork, in: .transporting, "gone", sending: .notSent)
        }
        let options = CallOptions(retry: RetryPolicy(maximumAttempts: 3, baseWait: .zero))
        _ = await #expect(throws: NetworkError.self) {
            try await layer.network.call(QueryCall(), options: options)
        }
        #expect(layer.transport.requests.map(\.head.path) == Array(repeating: "/v1/query?n=1", count: 3))
    }

    @Test func endpointThenCommonThenStandingParametersWin() async throws {
        let layer = layer()
        layer.network.configure(Library.self) { $0.commonParameters = ["n": "standing", "app": "a"] }
        #expect(try await layer.request(of: QueryCall()).head.path == "/v1/query?app=a&n=1")
        #expect(try await layer.request(of: QueryCall(given: ["n": "own"])).head.path == "/v1/query?app=a&n=own")
        let records = try await layer.records.records(count: 2)
        #expect(records[0].sentParameters == ["app": "a", "n": 1] && records[0].parameters.isEmpty)
    }

    @Test(arguments: [true, false]) func keysHoldThoseThatIdentifyTheResponse(isUnkeyed: Bool) async throws {
        let layer = layer(unkeyed: isUnkeyed ? ["n"] : [])
        let options = CallOptions(cache: .timeToLive(.seconds(100)))
        for _ in 0..<3 { _ = try await layer.network.call(BookSearch(), options: options) }
        #expect(layer.transport.requests.count == (isUnkeyed ? 1 : 3))
        // The endpoint's own parameter of the name counts.
        let own = QueryCall(given: ["n": "own"])
        _ = try await layer.network.call(own, options: options)
        _ = try await layer.network.call(QueryCall(given: ["n": "other"]), options: options)
        #expect(layer.transport.requests.count == (isUnkeyed ? 3 : 5))
    }

    @Test func standingParameterCanBeLeftOutOfKeys() async throws {
        let layer = StubbedLayer()
        let options = CallOptions(cache: .timeToLive(.seconds(100)))
        for device in ["a", "b"] {
            layer.network.configure(Library.self) {
                ($0.commonParameters, $0.unkeyedParameters) = (["device": .string(device), "app": "x"], ["device"])
            }
            _ = try await layer.network.call(BookSearch(), options: options)
        }
        #expect(layer.transport.requests.count == 1)
        layer.network.configure(Library.self) { $0.commonParameters = ["device": "b", "app": "y"] }
        _ = try await layer.network.call(BookSearch(), options: options)
        #expect(layer.transport.requests.count == 2)
    }

    @MainActor @Test(arguments: [true, false]) func callsThatDifferInAnUnkeyedOneJoin(isUnkeyed: Bool) async throws {
        let layer = layer(unkeyed: isUnkeyed ? ["n"] : [])
        let recorder = LandingRecorder()
        let manager = APIManager<BookSearch>(on: layer.network, delegate: recorder)
        let first = manager.load(BookSearch())
        #expect((manager.load(BookSearch()) == first) == isUnkeyed)
        try await recorder.landings(count: 1)
    }

    @Test func aServiceMakesItsOwn() async throws {
        let layer = StubbedLayer()
        let request = try await layer.request(of: Clocked.Times())
        #expect(request.head.path == "/times?at=noon" && Clocked.unkeyedParameters == ["at"])
    }
}

private final class Numbers: Sendable {
    private let last = Atomic(0)
    func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

private enum Clocked: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://clocked.test"]
    static let unkeyedParameters: Set<String> = ["at"]
    static func makeCommonParameters() -> Parameters { ["at": "noon"] }

    struct Times: Endpoint {
        static let service = Clocked.self
        var path: EndpointPath { "times" }
    }
}
