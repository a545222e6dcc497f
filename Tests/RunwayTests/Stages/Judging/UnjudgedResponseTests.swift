import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A response that nobody judged is neither a success nor cacheable.
@Suite(.timeLimit(.minutes(10)))
struct UnjudgedResponseTests {
    private static func pipeline() -> RequestPipeline {
        var pipeline = RequestPipeline.tested
        pipeline.remove(.judging)
        return pipeline
    }

    private let layer = StubbedLayer(pipeline: pipeline()) { _ in
        var response = Response.json("{}")
        response.head.headerFields[.cacheControl] = "max-age=600"
        return response
    }

    private func isRefused(_ error: (any Error)?) -> Bool {
        guard let error = error as? NetworkError else { return false }
        return error.kind == .invalidConfiguration && error.step == .judging
    }

    @Test(arguments: [CachePolicy.off, .timeToLive(), .http()])
    func unjudgedResponseIsNeitherSuccessNorStored(_ cache: CachePolicy) async throws {
        let options = CallOptions(cache: cache)
        let network = layer.network
        for _ in 0..<2 {
            #expect(
                isRefused(
                    await #expect(throws: NetworkError.self) { try await network.call(QueryCall(), options: options) }))
        }
        let request = try #require(layer.transport.requests.first)
        #expect(
            isRefused(
                await #expect(throws: NetworkError.self) {
                    try await network.exchange(request, with: Library.self, options: options)
                }))
        #expect(
            isRefused(
                await #expect(throws: NetworkError.self) { try await network.stream(QueryCall(), options: options) }))
        #expect(layer.transport.requests.count == 4)
        #expect(network.cache.count == 0)
        await network.events.flush()
        #expect(layer.records.records.allSatisfy { $0.outcome.name == "failed" })
    }

    @Test func unjudgedNotModifiedUpdatesNoStoredResponse() async throws {
        let flag = JudgingSwitch()
        var pipeline = Self.pipeline()
        pipeline.insert(flag, after: .judging)
        let layer = StubbedLayer(pipeline: pipeline) { request in
            var response = Response.json(
                "{}", status: request.head.headerFields.contains(.ifNoneMatch) ? .notModified : .ok)
            response.head.headerFields = [.cacheControl: "max-age=1", .eTag: "\"x\""]
            return response
        }
        let options = CallOptions(cache: .http())
        _ = try await layer.network.call(QueryCall(), options: options)
        layer.clock.advance(by: .seconds(5))
        flag.isOn.withLock { $0 = false }
        #expect(
            isRefused(
                await #expect(throws: NetworkError.self) { try await layer.network.call(QueryCall(), options: options) }
            ))
        flag.isOn.withLock { $0 = true }
        _ = try await layer.network.call(QueryCall(), options: options)
        #expect(layer.transport.requests.count == 3, "what is stored is as stale as it was")
    }
}

/// A judging stage of the app's own, which can be turned off.
private final class JudgingSwitch: RequestStage {
    /// Guards whether it judges.
    let isOn = Mutex(true)
    var step: FlightStep { .customStage("switch") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        if isOn.withLock({ $0 }) { response.verdict = .fine }
        return response
    }
}
