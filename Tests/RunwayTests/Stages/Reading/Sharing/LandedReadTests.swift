import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// A read whose response is stored, unless the endpoint rejects it.
struct CachedShelf: Endpoint {
    struct Refused: Error {}

    static let service = Library.self
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "stored" }
    func validate(response: RawData) throws {
        if response["refused"].exists { throw Refused() }
    }
}

/// Holds back the response to one call until a test opens the gate.
private struct Holding: RequestStage {
    let number: UInt64
    let gate: ScriptedGate
    var step: FlightStep { .customStage("holding") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let response = try await next.send(request, in: flight)
        await hold(flight)
        return response
    }

    private func hold(_ flight: Flight) async {
        guard flight.id.number == number else { return }
        // Whatever calls the wait off, the call goes on to its end.
        try? await gate.pass()
    }
}

/// Adds 100 to the number of every response.
private struct Adding: RequestStage {
    var step: FlightStep { .customStage("adding") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        guard case .whole(let rawData) = response.body, let number = rawData["flight"].uint64 else { return response }
        response.body = .whole(RawData(Array(#"{"flight":\#(number + 100)}"#.utf8), response: response.head))
        return response
    }
}

/// Between the end of a read that calls share and the moment at which the first of them has stored its response.
@Suite(.timeLimit(.minutes(10)))
struct LandedReadTests {
    private let gate = ScriptedGate()

    /// A room in which the first call has its response and has not stored it.
    private func roomWithAResponse(
        _ response: String = #"{"flight":1}"#, _ options: CallOptions = .standard
    ) async throws -> (room: ReadingRoom, first: Task<RawData, any Error>) {
        var pipeline = RequestPipeline.tested
        pipeline.insert(Holding(number: 1, gate: gate), before: .reading)
        let room = ReadingRoom(pipeline: pipeline)
        let first = room.call(CachedShelf(), options)
        try await room.transport.waitForArrival(of: 1)
        room.transport.respond(1, with: .success(.json(response)))
        try await gate.waitForArrivals()
        #expect(room.network.cache.count == 0)
        return (room, first)
    }

    @Test func callBeforeTheStoringSendsNoRequest() async throws {
        let (room, first) = try await roomWithAResponse()
        let call = room.call(CachedShelf())
        try await room.settle { room.network.cache.count == 1 || room.transport.sent.count > 1 }
        try #require(room.transport.sent == [1])
        #expect(try await call.number == 1)
        gate.open()
        #expect(try await first.number == 1)
        let second = try await room.records(count: 2)[1]
        #expect(second.attempts.isEmpty)
        #expect(second.decisions(of: SharingDecision.self).map(\.description) == ["joined #1"])
        #expect(room.network.reads.isEmpty)
    }

    @Test func rejectedResponseIsReturnedToNoLaterCall() async throws {
        let (room, first) = try await roomWithAResponse(#"{"refused":true}"#)
        gate.open()
        #expect(try await first.failure().kind == .invalidResponse)
        let second = try await room.begin(CachedShelf(), as: 2)
        room.transport.respond(2)
        #expect(try await second.number == 2)
        #expect(room.network.reads.isEmpty)
    }

    @Test func callAfterAClearGetsNoEarlierResponse() async throws {
        let (room, first) = try await roomWithAResponse()
        room.network.cache.clear()
        let second = try await room.begin(CachedShelf(), as: 2)
        room.transport.respond(2)
        #expect(try await second.number == 2)
        gate.open()
        #expect(try await first.number == 1)
        #expect(try await room.network.call(CachedShelf())["flight"].uint64 == 2)
        #expect(room.network.reads.isEmpty)
    }

    @Test func aRefreshReceivesNoEarlierResponse() async throws {
        let refresh = CallOptions(cacheUse: .refresh)
        let (room, first) = try await roomWithAResponse(#"{"flight":1}"#, refresh)
        let second = room.call(CachedShelf(), refresh)
        try await room.transport.waitForArrival(of: 2)
        room.transport.respond(2)
        #expect(try await second.number == 2)
        gate.open()
        #expect(try await first.number == 1)
        #expect(room.network.reads.isEmpty)
    }

    @Test func callEndedBeforeTheResponseLeavesNoState() async throws {
        let room = ReadingRoom()
        let first = try await room.begin(CachedShelf(), as: 1)
        let second = try await room.join(CachedShelf())
        first.cancel()
        #expect(try await first.failure().kind == .cancelled)
        room.transport.respond(1)
        #expect(try await second.number == 1)
        try await room.settle { room.network.reads.isEmpty }
        #expect(try await room.network.call(CachedShelf()).source == .cache)
    }

    @Test func lookupBeforeTheStoringIsRepeated() async throws {
        let room = ReadingRoom()
        let first = try await room.begin(CachedShelf(), as: 1)
        room.transport.respond(1)
        #expect(try await first.number == 1)
        let flight = room.network.makeFlight(CachedShelf.self, .standard)
        var draft = try room.network.draft(CachedShelf(), in: flight)
        let request = try draft.request(in: flight)
        let key = try #require(flight.key)
        let next = room.network.chain.rest(below: .reading, over: room.transport)
        let reads = SharedReads(
            cache: room.network.cache, admission: room.network.admission, flight: flight, next: next)
        let reading = TimeToLiveReading(room.network.cache, CachedShelf.cache)
        let found = SharedReads.Lookup(snapshot: .entry(key, nil, changes: 0), decision: CacheDecision.miss)
        let fetched = try await reading.fetch(.init(request: request, key: key, lookup: found), reads)
        #expect(fetched == nil, "it has to look up again")
        #expect(try await reading.respond(to: request, reads).source == .cache)
        #expect(room.transport.sent == [1])
        #expect(flight.record(.none).decisions(of: CacheDecision.self) == [.hit(age: .zero)])
    }

    @Test func storedResponsesSkipTheStagesBelow() async throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(Adding(), after: .reading)
        let room = ReadingRoom(pipeline: pipeline)
        let first = try await room.begin(CachedShelf(), as: 1)
        let second = try await room.join(CachedShelf())
        room.transport.respond(1)
        for call in [first, second] { #expect(try await call.number == 101) }
        let third = try await room.call(CachedShelf()).value
        #expect(third.source == .cache && third["flight"].uint64 == 101)
        #expect(room.transport.sent == [1])
    }
}
