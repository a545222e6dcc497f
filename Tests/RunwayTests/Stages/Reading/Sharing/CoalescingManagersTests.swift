import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct CoalescingManagersTests {
    private struct Listing: Endpoint {
        static let service = Library.self
        static let overlap = OverlapPolicy.cancelRunning
        var path: EndpointPath { "listing" }
    }

    private let room = ReadingRoom()
    private let recorder = LandingRecorder()

    private func managers(_ count: Int, overlap: OverlapPolicy? = nil) -> [APIManager<Listing>] {
        (0..<count).map { _ in APIManager<Listing>(on: room.network, delegate: recorder, overlap: overlap) }
    }

    /// Lets a manager make a call, and waits until so many wait for the read.
    private func load(_ manager: APIManager<Listing>, waiting: Int, read: UInt64 = 1) async throws -> FlightID {
        let flight = manager.load(Listing())
        try await waitUntil { room.network.reads.flights(waitingFor: read).count == waiting }
        return flight
    }

    @Test func threeControllersMakeOneRequestAndThreeLandings() async throws {
        let managers = managers(3)
        var flights: [FlightID] = []
        for (index, manager) in managers.enumerated() { flights.append(try await load(manager, waiting: index + 1)) }
        try await room.transport.waitForArrival(of: flights[0].number)
        room.transport.respond(flights[0].number)
        let landings = try await recorder.landings(count: 3)
        #expect(Set(landings.compactMap(\.flight)) == Set(flights))
        #expect(managers.allSatisfy { $0.rawData?["flight"].uint64 == flights[0].number })
        #expect(room.transport.sent == [flights[0].number])
        #expect(try await room.records(count: 3).map(\.attempts.count) == [1, 0, 0])
    }

    @Test func replacingOneManagersCallDoesNotHurtAnothers() async throws {
        let managers = managers(2)
        let first = try await load(managers[0], waiting: 1)
        let second = try await load(managers[1], waiting: 2)
        try await room.transport.waitForArrival(of: first.number)
        let third = managers[0].load(Listing())
        // The replaced call leaves and the new one joins, in whichever order.
        try await waitUntil { room.network.reads.flights(waitingFor: 1).map(\.id).elementsEqual([second, third]) }
        #expect(room.transport.cancelled.isEmpty)
        room.transport.respond(first.number)
        let landings = try await recorder.landings(count: 2)
        #expect(Set(landings.compactMap(\.flight)) == [second, third])
        let records = try await room.records(count: 3)
        #expect(records.map(\.outcome.name) == ["replaced", "succeeded", "succeeded"])
        #expect(records.map(\.attempts.count) == [1, 0, 0])
    }

    @Test func releasedManagerLeavesTheReadToTheOthers() async throws {
        var managers = managers(2)
        let first = try await load(managers[0], waiting: 1)
        _ = try await load(managers[1], waiting: 2)
        try await room.transport.waitForArrival(of: first.number)
        managers.removeFirst()
        try await waitUntil { room.network.reads.flights(waitingFor: 1).count == 1 }
        room.transport.respond(first.number)
        #expect(try await recorder.landings(count: 1).count == 1)
        #expect(try await room.records(count: 2).map(\.outcome.name) == ["cancelled", "succeeded"])
    }

    @Test func concurrentCallsOfAManagerShareARequest() async throws {
        let manager = managers(1, overlap: .concurrent)[0]
        var flights: [FlightID] = []
        for count in 1...3 { flights.append(try await load(manager, waiting: count)) }
        try await room.transport.waitForArrival(of: flights[0].number)
        manager.cancel(flights[1])
        room.transport.respond(flights[0].number)
        let landings = try await recorder.landings(count: 2)
        #expect(Set(landings.compactMap(\.flight)) == [flights[0], flights[2]])
        #expect(room.transport.sent.count == 1)
    }

    @Test func theLastManagerThatCancelsStopsTheRequest() async throws {
        let managers = managers(2)
        let first = try await load(managers[0], waiting: 1)
        _ = try await load(managers[1], waiting: 2)
        try await room.transport.waitForArrival(of: first.number)
        for manager in managers { manager.cancelAll() }
        try await room.transport.wait { $0.cancelled == [first.number] }
        #expect(try await room.records(count: 2).map(\.outcome.name) == ["cancelled", "cancelled"])
        #expect(recorder.landings.isEmpty)
    }
}
