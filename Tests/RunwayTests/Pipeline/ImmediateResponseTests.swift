import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

/// A stage that responds without waiting, or has to wait.
private final class Memory: RequestStage {
    private let response: ImmediateResponse
    let name: String
    /// Guards whether each question came on the main thread's actor.
    private let asked = Mutex(0)
    var askedCount: Int { asked.withLock { $0 } }
    var step: FlightStep { .customStage(name) }

    init(_ name: String, _ response: ImmediateResponse) {
        self.name = name
        self.response = response
    }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        asked.withLock { $0 += 1 }
        return response
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}

/// Changes stored responses, so that they have a content coding that nothing has undone.
private struct CodingStage: RequestStage {
    var step: FlightStep { .customStage("coding") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        if response.source == .cache { response.head.headerFields[.contentEncoding] = "br" }
        return response
    }
}

struct ImmediateResponseTests {
    private func stored(_ text: String) -> Response {
        var response = Response.json(text)
        response.source = .cache
        response.verdict = .fine
        return response
    }

    @Test func responseOfAStageNeedsNoRequest() async throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(Memory("memory", .response(stored(#"{"a":1}"#))), after: .reading)
        let layer = StubbedLayer(pipeline: pipeline)
        let rawData = try await layer.network.call(QueryCall())
        #expect(rawData["a"].int == 1)
        #expect(rawData.source == .cache)
        #expect(layer.transport.requests.isEmpty)
        let record = try await layer.record()
        #expect(record.source == .cache)
        #expect(record.outcome.name == "succeeded")
        #expect(record.decisions(of: CallDecision.self) == [.landedImmediately])
        #expect(record.attempts.isEmpty)
    }

    /// The main actor is busy with this test until `call` suspends: a job that is put there before the call can run only if it does.
    @MainActor
    @Test func immediateResponseStaysOnTheCallersActor() async throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(Memory("memory", .response(stored("{}"))), before: .reading)
        let network = StubbedLayer(pipeline: pipeline).network
        var hasRun = false
        let later = Task { @MainActor in hasRun = true }
        _ = try await network.call(QueryCall())
        #expect(!hasRun)
        await later.value
        #expect(hasRun)
    }

    @Test func stageThatWaitsPreventsStagesBelowFromResponding() async throws {
        let waiting = Memory("waiting", .wait)
        let below = Memory("below", .response(stored("{}")))
        var pipeline = RequestPipeline.tested
        pipeline.insert(waiting, after: .reading)
        pipeline.insert(below, after: .reading)
        let layer = StubbedLayer(pipeline: pipeline)
        #expect(try await layer.network.call(QueryCall()).source == .network)
        #expect(waiting.askedCount == 1 && below.askedCount == 0)
        #expect(layer.transport.requests.count == 1)
    }

    @Test func stageThatPassesLetsTheNextRespond() async throws {
        let passing = Memory("passing", .pass)
        var pipeline = RequestPipeline.tested
        pipeline.insert(passing, before: .reading)
        pipeline.insert(Memory("memory", .response(stored("{}"))), after: .reading)
        let layer = StubbedLayer(pipeline: pipeline)
        #expect(try await layer.network.call(QueryCall()).source == .cache)
        #expect(passing.askedCount == 1)
    }

    @Test func endpointChecksAnImmediateResponse() async throws {
        struct Picky: Endpoint {
            static let service = Library.self
            var path: EndpointPath { "p" }
            func validate(response: RawData) throws { _ = try response["must"].require(Int.self) }
        }
        var pipeline = RequestPipeline.tested
        pipeline.insert(Memory("memory", .response(stored("{}"))), after: .reading)
        let layer = StubbedLayer(pipeline: pipeline)
        let error = try await layer.failure(of: Picky())
        #expect(error.kind == .invalidResponse && error.step == .checking)
    }

    @Test func changedStoredResponseIsCheckedAgain() async throws {
        struct Stored: Endpoint {
            static let service = Library.self
            static let cache = CachePolicy.timeToLive()
            var path: EndpointPath { "s" }
        }
        var pipeline = RequestPipeline.tested
        pipeline.insert(CodingStage(), before: .reading)
        let layer = StubbedLayer(pipeline: pipeline)
        for count in 1...2 {
            #expect(try await layer.network.call(Stored()).source == .network)
            #expect(layer.transport.requests.count == count)
        }
    }
}
