import HTTPTypes
import Runway
import RunwayTesting
import Synchronization
import Testing

/// A stage that writes its name down on the way out and on the way back.
private struct Passing: RequestStage {
    let name: String
    let journal: Journal
    var step: FlightStep { .customStage(name) }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        journal.write("\(name)↓")
        let response = try await next.send(request, in: flight)
        journal.write("\(name)↑")
        return response
    }
}

private final class Journal: Sendable {
    /// Guards the lines.
    private let stored = Mutex<[String]>([])
    var lines: [String] { stored.withLock { $0 } }
    func write(_ line: String) { stored.withLock { $0.append(line) } }
}

struct RequestPipelineTests {
    private let journal = Journal()

    private func position(of place: FlightStep) throws -> Int {
        try #require(RequestPipeline.places.firstIndex(of: place))
    }

    private func stage(_ name: String) -> Passing { Passing(name: name, journal: journal) }

    @Test func placesStandInTheOrderOfTheDesign() {
        #expect(
            RequestPipeline.places == [
                .deadline, .reading, .offlineQueue, .admission, .retrying, .authorizing, .merging,
                .redirecting, .securing, .cookies, .compressing, .hedging, .routing, .signing, .judging,
            ])
    }

    @Test func defaultStagesAreInOrder() {
        #expect(
            RequestPipeline().steps
                == [
                    .deadline, .reading, .offlineQueue, .admission, .retrying, .authorizing, .merging,
                    .redirecting, .securing, .cookies, .compressing, .hedging, .judging,
                ])
    }

    @Test(arguments: RequestPipeline.places)
    func stageIsInsertedAtItsPlace(_ place: FlightStep) throws {
        var pipeline = RequestPipeline()
        pipeline.insert(stage("before"), before: place)
        pipeline.insert(stage("after"), after: place)
        let steps = pipeline.steps
        let before = try #require(steps.firstIndex(of: .customStage("before")))
        let after = try #require(steps.firstIndex(of: .customStage("after")))
        #expect(before < after)
        for other in [FlightStep.deadline, .reading, .redirecting, .hedging, .judging] {
            let index = try #require(steps.firstIndex(of: other))
            let (ownPlace, otherPlace) = try (position(of: place), position(of: other))
            #expect((index < before) == (otherPlace < ownPlace), "\(other)")
            #expect((index > after) == (otherPlace > ownPlace), "\(other)")
        }
    }

    @Test func laterInsertionStandsFurtherFromThePlace() {
        var pipeline = RequestPipeline()
        pipeline.insert(stage("a1"), after: .retrying)
        pipeline.insert(stage("b1"), before: .retrying)
        pipeline.insert(stage("b2"), before: .retrying)
        pipeline.insert(stage("a2"), after: .retrying)
        #expect(
            pipeline.steps.filter { !RequestPipeline.places.contains($0) }
                == ["b2", "b1", "a1", "a2"].map { .customStage($0) })
    }

    @Test func stagesAreInTheOrderOfTheirPlaces() {
        var pipeline = RequestPipeline()
        for place in RequestPipeline.places.reversed() { pipeline.insert(stage("\(place)"), after: place) }
        #expect(
            pipeline.steps.filter { !RequestPipeline.places.contains($0) }
                == RequestPipeline.places.map { .customStage("\($0)") })
    }

    @Test func requestPassesDownAndTheResponseUp() async throws {
        var pipeline = RequestPipeline()
        pipeline.insert(stage("outer"), before: .deadline)
        pipeline.insert(stage("middle"), after: .retrying)
        pipeline.insert(stage("inner"), after: .judging)
        let journal = journal
        let layer = StubbedLayer(pipeline: pipeline) { _ in
            journal.write("wire")
            return .json("{}")
        }
        _ = try await layer.network.call(QueryCall())
        #expect(journal.lines == ["outer↓", "middle↓", "inner↓", "wire", "inner↑", "middle↑", "outer↑"])
    }

    @Test func stageSeesVerdictsAndCanChangeRequests() async throws {
        let stage = StampingStage()
        var pipeline = RequestPipeline()
        pipeline.insert(stage, before: .signing)
        let layer = StubbedLayer(pipeline: pipeline) { _ in .json(#"{"code":5,"msg":"no"}"#) }
        let error = try await layer.failure(of: PaintingList())
        #expect(error.kind == .service && error.serviceError == ServiceError(code: "5", message: "no"))
        #expect(stage.verdicts == [.failed(ServiceError(code: "5", message: "no"), isAbsorbed: false)])
        #expect(layer.transport.requests.first?.head.headerFields[.userAgent] == "stamp")
    }

    @Test func stageThatSendsTwiceMakesTwoAttempts() async throws {
        struct Twice: RequestStage {
            var step: FlightStep { .retrying }
            func respond(
                to request: Request, in flight: Flight, next: RequestPipeline.Rest
            ) async throws(NetworkError) -> Response {
                _ = try await next.send(request, in: flight)
                return try await next.send(request, in: flight)
            }
        }
        var pipeline = RequestPipeline()
        pipeline.insert(Twice(), before: .retrying)
        let layer = StubbedLayer(pipeline: pipeline) { _ in .json("{}", status: .internalServerError) }
        let error = try await layer.failure(of: QueryCall())
        #expect(error.attempt == 2)
        #expect("\(error)".hasSuffix("(GET https://library.test/v1/query, attempt 2)"))
        #expect(try await layer.record().attempts.count == 2)
    }

    @Test func stageErrorReachesTheCallerWithItsStep() async throws {
        struct Refusing: RequestStage {
            var step: FlightStep { .customStage("quota") }
            func respond(
                to request: Request, in flight: Flight, next: RequestPipeline.Rest
            ) async throws(NetworkError) -> Response {
                throw NetworkError(.overloaded, in: step, "Ten calls a second are enough.")
            }
        }
        var pipeline = RequestPipeline()
        pipeline.insert(Refusing(), after: .admission)
        let layer = StubbedLayer(pipeline: pipeline)
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .overloaded)
        #expect(error.step == .customStage("quota"))
        #expect(error.attempt == 0 && error.request == nil)
        #expect(layer.transport.requests.isEmpty)
    }
}

private final class StampingStage: RequestStage {
    /// Guards the verdicts.
    private let seen = Mutex<[Verdict]>([])
    var verdicts: [Verdict] { seen.withLock { $0 } }
    var step: FlightStep { .customStage("stamping") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var request = request
        request.head.headerFields[.userAgent] = "stamp"
        let response = try await next.send(request, in: flight)
        if let verdict = response.verdict { seen.withLock { $0.append(verdict) } }
        return response
    }
}
