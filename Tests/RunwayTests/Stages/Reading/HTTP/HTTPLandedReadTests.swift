import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Between the end of a read that calls share and the moment at which the first of them learns of it.
@Suite(.timeLimit(.minutes(10)))
struct HTTPLandedReadTests {
    /// Changes every response.
    private struct Rewriting: RequestStage {
        var step: FlightStep { .customStage("rewriting") }

        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            var response = try await next.send(request, in: flight)
            response.body = .whole(RawData(Array(#"{"flight":100}"#.utf8), response: response.head))
            return response
        }
    }

    private let room = ReadingRoom()
    private let options = CallOptions(cache: .http())
    private let executor = HeldExecutor()

    private func respond(_ number: UInt64, _ fields: HTTPFields, status: HTTPResponse.Status = .ok) -> Response {
        var response = Response.json(status == .ok ? #"{"flight":\#(number)}"# : "", status: status)
        for field in fields { response.head.headerFields[field.name] = field.value }
        return response
    }

    /// A call whose read has received a response that the call has not.
    private func landedCall(_ number: UInt64, _ response: Response) async throws -> Task<RawData, any Error> {
        let call = Task(executorPreference: executor) { [network = room.network, options] in
            try await network.call(Shelf(), options: options)
        }
        try await room.transport.waitForArrival(of: number)
        try await executor.hold()
        room.transport.respond(number, with: .success(response))
        try await room.settle { room.network.reads.isEmpty }
        return call
    }

    /// A call that comes meanwhile, when it is over or has sent a request, though so many were sent before.
    private func callMeanwhile(_ number: Int, after count: Int) async throws -> Task<RawData, any Error> {
        let call = room.call(Shelf(), options)
        try await room.settle { room.records.records.count == number - 1 || room.transport.sent.count > count }
        return call
    }

    @Test func callAtAReadsEndFindsItsResponse() async throws {
        let first = try await landedCall(1, respond(1, [.cacheControl: "max-age=600"]))
        let second = try await callMeanwhile(2, after: 1)
        try #require(room.transport.sent == [1])
        #expect(try await second.value.source == .cache)
        executor.release()
        #expect(try await first.number == 1)
        let records = try await room.records(count: 2)
        let decisions = records.map { $0.decisions(of: HTTPCacheDecision.self) }
        #expect(decisions[0] == [.miss, .stored(lifetime: .seconds(600), isHeuristic: false)])
        #expect(decisions[1] == [.fresh(age: .zero, remaining: .seconds(600))])
    }

    @Test func callAtAValidationsEndFindsItFresh() async throws {
        let before = room.call(Shelf(), options)
        try await room.transport.waitForArrival(of: 1)
        room.transport.respond(1, with: .success(respond(1, [.cacheControl: "max-age=10", .eTag: #""a""#])))
        #expect(try await before.number == 1)
        room.clock.advance(by: .seconds(20))
        let fields: HTTPFields = [.cacheControl: "max-age=600", .eTag: #""a""#]
        let first = try await landedCall(2, respond(2, fields, status: .notModified))
        let second = try await callMeanwhile(3, after: 2)
        try #require(room.transport.sent == [1, 2])
        #expect(try await second.value.source == .cache)
        executor.release()
        #expect(try await first.number == 1)
        let decisions = try await room.records(count: 3)[1].decisions(of: HTTPCacheDecision.self)
        #expect(
            decisions == [
                .validating(staleBy: .seconds(10)), .notModified(updated: 1),
                .stored(lifetime: .seconds(600), isHeuristic: false),
            ])
    }

    @Test(arguments: [("no-store", "Accept"), ("no-cache", "Accept"), ("max-age=0", "Accept"), ("max-age=600", "*")])
    func uncacheableResponseIsReturnedToNoLaterCall(_ control: String, _ vary: String) async throws {
        let fields: HTTPFields = [.cacheControl: control, .vary: vary]
        let first = try await landedCall(1, respond(1, fields))
        let second = room.call(Shelf(), options)
        try await room.transport.waitForArrival(of: 2)
        room.transport.respond(2, with: .success(respond(2, fields)))
        #expect(try await second.number == 2)
        executor.release()
        #expect(try await first.number == 1)
    }

    @Test func lookupBeforeTheStoringIsRepeated() async throws {
        let first = room.call(Shelf(), options)
        try await room.transport.waitForArrival(of: 1)
        room.transport.respond(1, with: .success(respond(1, [.cacheControl: "max-age=600"])))
        #expect(try await first.number == 1)
        let flight = room.network.makeFlight(Shelf.self, options)
        let request = try room.network.assemble(Shelf(), delivery: .whole(maximumByteCount: 1000), in: flight)
        let next = room.network.chain.rest(below: .reading, over: room.transport)
        let reads = SharedReads(
            cache: room.network.cache, admission: room.network.admission, flight: flight, next: next)
        let reading = HTTPReading(room.network.cache)
        var fetch = HTTPReading.Fetch(request, decision: .miss)
        fetch.lookup.snapshot = .target(HTTPCacheURI(request.head), version: 0, changes: 0)
        #expect(try await reading.fetch(fetch, reads) == nil, "it has to look up again")
        #expect(try await reading.respond(to: request, reads).source == .cache)
        #expect(room.transport.sent == [1])
        let decisions = flight.record(.none).decisions(of: HTTPCacheDecision.self)
        #expect(decisions == [.fresh(age: .zero, remaining: .seconds(600))])
    }

    @Test func responseIsStoredAsLowerStagesMadeIt() async throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(Rewriting(), after: .reading)
        let room = ReadingRoom(pipeline: pipeline)
        let first = room.call(Shelf(), options)
        try await room.transport.waitForArrival(of: 1)
        room.transport.respond(1, with: .success(respond(1, [.cacheControl: "max-age=600"])))
        #expect(try await first.number == 100)
        let second = try await room.call(Shelf(), options).value
        #expect(second.source == .cache && second["flight"].uint64 == 100)
    }
}
