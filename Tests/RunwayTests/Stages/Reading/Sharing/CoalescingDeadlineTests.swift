import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(5)))
struct CoalescingDeadlineTests {
    /// Starts calls of one read with these deadlines; the first is the leader.
    private func calls(_ room: ReadingRoom, _ deadlines: [Duration]) async throws -> [Task<RawData, any Error>] {
        var calls: [Task<RawData, any Error>] = []
        for deadline in deadlines {
            room.network.configure(Library.self) { $0.deadline = deadline }
            calls.append(calls.isEmpty ? try await room.begin(Shelf(), as: 1) : try await room.join(Shelf()))
        }
        return calls
    }

    @Test(arguments: [true, false]) func everyCallHasItsOwnDeadline(listens: Bool) async throws {
        let room = ReadingRoom(listens: listens)
        let calls = try await calls(room, [.seconds(2), .seconds(9), .seconds(1), .seconds(9)])
        for (index, instant) in [(2, 1), (0, 2)] {
            room.clock.advance(to: ManualClock.Instant(offset: .seconds(instant)))
            let error = try await calls[index].failure()
            #expect(error.kind == .timedOut && error.step == .deadline)
            #expect(error.detail == "There was no response within \(instant) s.")
            #expect(room.transport.cancelled.isEmpty)
        }
        room.transport.respond(1)
        #expect(try await calls[1].number == 1)
        #expect(try await calls[3].number == 1)
        #expect(room.transport.sent == [1])
    }

    @Test func sharedDeadlineIsTheLatestOfTheWaiters() async throws {
        let room = ReadingRoom()
        let calls = try await calls(room, [.seconds(5), .seconds(3), .seconds(9)])
        let flight = try #require(room.transport.flight(1))
        #expect(flight.deadline == .seconds(9))
        calls[2].cancel()
        _ = try await calls[2].failure()
        #expect(flight.deadline == .seconds(5))
        calls[0].cancel()
        _ = try await calls[0].failure()
        #expect(flight.deadline == .seconds(3), "also where the flight's own call has left")
        room.transport.respond(1)
        #expect(try await calls[1].number == 1)
        #expect(flight.deadline == .seconds(5))
    }

    @Test(arguments: [true, false]) func theLastDeadlineCancelsTheRequest(listens: Bool) async throws {
        let room = ReadingRoom(listens: listens)
        let calls = try await calls(room, [.seconds(1), .seconds(2)])
        room.clock.advance(to: ManualClock.Instant(offset: .seconds(1)))
        _ = try await calls[0].failure()
        #expect(room.transport.cancelled.isEmpty)
        try await room.clock.waitForSleepers()
        room.clock.advance(to: ManualClock.Instant(offset: .seconds(2)))
        #expect(try await calls[1].failure().kind == .timedOut)
        try await room.transport.wait { $0.cancelled == [1] }
        room.transport.respond(1)
        #expect(try await room.records(count: 2).map(\.outcome.name) == ["failed", "failed"])
    }

    @Test func aTransportThatDoesNotListenHoldsNobody() async throws {
        let room = ReadingRoom(listens: false)
        let calls = try await calls(room, [.seconds(1), .seconds(1)])
        try await room.clock.waitForSleepers()
        room.clock.advance(by: .seconds(1))
        for call in calls { #expect(try await call.failure().kind == .timedOut) }
        #expect(room.transport.parked == [1])
        room.transport.respond(1)
    }

    @Test func callNeedsNoTaskBesideTheSharedOne() async throws {
        let room = ReadingRoom(listens: false)
        let network = room.network
        let rest = network.chain.rest(below: .deadline, over: room.transport)
        let flight = network.makeFlight(Shelf.self, .standard)
        var request = Request(head: .init(method: .get, url: "https://library.test/v1/shelf/1"))
        #expect(rest.endsInTime(request, in: flight))
        request.delivery = .streamed
        #expect(!rest.endsInTime(request, in: flight))
        request.delivery = .whole(maximumByteCount: 1)
        request.head.method = .post
        #expect(!rest.endsInTime(request, in: flight), "a transport that does not listen needs to be left behind")
        let listening = network.chain.rest(below: .deadline, over: CarryingTransport(listens: true))
        #expect(listening.endsInTime(request, in: flight))
    }

    @Test func customStageEndsAtTheDeadline() async throws {
        struct Waiting: RequestStage {
            let gate = ScriptedGate()
            var step: FlightStep { .customStage("waiting") }
            func respond(
                to request: Request, in flight: Flight, next: RequestPipeline.Rest
            ) async throws(NetworkError) -> Response {
                await Task { [gate] in try? await gate.pass() }.value
                return try await next.send(request, in: flight)
            }
        }
        for place in [FlightStep.reading, .admission] {
            let stage = Waiting()
            var pipeline = RequestPipeline.tested
            pipeline.insert(stage, before: place)
            let room = ReadingRoom(pipeline: pipeline)
            room.network.configure(Library.self) { $0.deadline = .seconds(1) }
            let call = room.call(Shelf())
            try await stage.gate.waitForArrivals()
            try await room.clock.waitForSleepers()
            room.clock.advance(by: .seconds(1))
            #expect(try await call.failure().kind == .timedOut)
            stage.gate.open()
        }
    }
}
