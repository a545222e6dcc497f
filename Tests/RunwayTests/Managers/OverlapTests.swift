import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

@MainActor
@Suite(.timeLimit(.minutes(2)))
struct OverlapTests {
    let managers = ManagerBench()
    let recorder = LandingRecorder()

    @Test func ignoredCallReturnsTheFlightInFlight() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let first = manager.load(Refresh())
        let again = (1...4).map { _ in manager.load(Refresh()) }
        try await managers.transport.waitForArrival(of: first)
        managers.transport.respond(first)
        try await recorder.landings(count: 1)

        #expect(again.allSatisfy { $0 == first })
        let records = try await managers.records.records(count: 5)
        let ignored = records.filter { if case .ignored(let running) = $0.outcome { running == first } else { false } }
        #expect(ignored.count == 4)
        #expect(records.map(\.attempts.count).reduce(0, +) == 1)
        #expect(recorder.landings.count == 1)
    }

    @Test(arguments: [false, true]) func olderResponseNeverLandsAfterANewerCall(olderRespondsFirst: Bool) async throws {
        let managers = ManagerBench(isDeaf: true)
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        let older = manager.load(Filter(city: "上海"))
        try await managers.transport.waitForArrival(of: older)
        weak let rest = manager.state.machine.flight(older)
        #expect(rest != nil)
        let newer = manager.load(Filter(city: "北京"))
        try await managers.transport.waitForArrival(of: newer)
        for flight in olderRespondsFirst ? [older, newer] : [newer, older] { managers.transport.respond(flight) }
        try await recorder.landings(count: 1)

        let records = try await managers.records.records(count: 2)
        // The older one has its record since it was replaced. Its task holds the flight, and lands nothing once that is gone.
        try await waitUntil { rest == nil }
        #expect(recorder.landings.map(\.flight) == [newer])
        #expect(manager.rawData?["flight"].uint64 == newer.number)
        #expect(records.first { $0.id == older }?.outcome.name == "replaced")
        #expect(records.first { $0.id == newer }?.decisions(of: CallDecision.self) == [.replacedRunning(1)])
    }

    @Test func replacingCancelsTheOlderRequest() async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        let older = manager.load(Filter(city: "a"))
        try await managers.transport.waitForArrival(of: older)
        manager.load(Filter(city: "b"))
        try await managers.transport.wait { $0.cancelled.contains(older.number) }
        #expect(managers.transport.cancelled == [older.number])
    }

    @Test func concurrentCallsLandInOrderOfCompletion() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder, overlap: .concurrent)
        let flights = (1...3).map { manager.load(Refresh(page: $0)) }
        for flight in flights { try await managers.transport.waitForArrival(of: flight) }
        for (count, flight) in flights.reversed().enumerated() {
            managers.transport.respond(flight)
            try await recorder.landings(count: count + 1)
        }
        #expect(recorder.landings.map(\.flight) == flights.reversed())
        #expect(recorder.landings.map { ($0.endpoint as? Refresh)?.page } == [3, 2, 1])
    }

    @Test func managerOverridesThePolicyOfItsEndpoint() async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder, overlap: .ignoreNew)
        let first = manager.load(Filter(city: "a"))
        #expect(manager.load(Filter(city: "b")) == first)
        #expect(Filter.overlap == .cancelRunning)
    }

    @Test func refusedParametersReplaceNoCall() async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        let good = manager.load(Filter(city: "a"))
        let bad = manager.load(Filter(city: ""))
        try await recorder.landings(count: 1)
        try await managers.transport.waitForArrival(of: good)
        managers.transport.respond(good)
        try await recorder.landings(count: 2)
        #expect(recorder.landings.map(\.flight) == [bad, good])
        #expect(manager.error == nil)
    }

    @Test func unencodableCallReplacesNoCall() async throws {
        let manager = APIManager<Bounded>(on: managers.network, delegate: recorder)
        let good = manager.load(Bounded(price: 1))
        let bad = manager.load(Bounded(price: .infinity))
        try await recorder.landings(count: 1)
        try await managers.transport.waitForArrival(of: good)
        managers.transport.respond(good)
        try await recorder.landings(count: 2)
        #expect(recorder.landings.map(\.flight) == [bad, good])
    }
}

private struct Bounded: Endpoint {
    static let service = Estates.self
    static let overlap = OverlapPolicy.cancelRunning
    var path: EndpointPath { "bounded" }
    var price: Double
}
