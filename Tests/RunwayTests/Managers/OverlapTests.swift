import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct OverlapTests {
    let managers = ManagerBench()
    let recorder = LandingRecorder()

    @Test func ignoredCallReturnsTheFlightInFlight() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder, overlap: .ignoreNew)
        let first = manager.load(Refresh())
        let again = (1...4).map { _ in manager.load(Refresh()) }
        try await managers.transport.waitForArrival(of: first)
        managers.transport.respond(first)
        try await recorder.landings(count: 1)

        #expect(again.allSatisfy { $0 == first })
        let records = try await managers.records.records(count: 5)
        let ignored = records.filter { $0.outcome.runningFlight == first }
        #expect(ignored.count == 4)
        #expect(records.map(\.attempts.count).reduce(0, +) == 1)
        #expect(recorder.landings.count == 1)
    }

    @Test(arguments: [false, true]) func olderResponseNeverLandsAfterANewerCall(olderRespondsFirst: Bool) async throws {
        let managers = ManagerBench(ignoresCancellation: true)
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

    @Test func identicalCallJoinsTheOneInFlight() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let first = manager.load(Refresh())
        let again = [manager.load(Refresh()), manager.load(Refresh(), options: CallOptions(cacheUse: .refresh))]
        try await managers.transport.waitForArrival(of: first)
        managers.transport.respond(first)
        try await recorder.landings(count: 1)

        #expect(again == [first, first] && recorder.landings.map(\.flight) == [first])
        let records = try await managers.records.records(count: 3)
        let joined = records.filter { $0.outcome.kind == .joined && $0.outcome.runningFlight == first }
        #expect(joined.count == 2 && records.map(\.attempts.count).reduce(0, +) == 1)
        let third = manager.load(Refresh())
        #expect(third != first)
        manager.cancelAll()
    }

    /// A call that waits for a slot while the circuit opens is refused, unless the user pulls meanwhile: in the same manager, or in another
    /// whose call shares the request.
    @Test(arguments: [false, true]) func callJoinedByAPullBypassesTheCircuit(isShared: Bool) async throws {
        let managers = ManagerBench(admission: .oneSlot)
        let (transport, network) = (managers.transport, managers.network)
        let failing = Task { try await network.call(Refresh(page: 1)) }
        try await transport.wait { !$0.parked.isEmpty }
        let busy = try #require(transport.parked.first)
        let manager = APIManager<Refresh>(on: network, delegate: recorder)
        let other = isShared ? APIManager<Refresh>(on: network) : manager
        let first = manager.load(Refresh(page: 2))
        try await waitUntil { network.admission.counts.waiting == 1 }
        let pull = other.load(Refresh(page: 2), options: CallOptions(bypassesCircuit: true))
        #expect((pull == first) == !isShared)
        if isShared { try await waitUntil { network.reads.waitingCount == 3 } }
        transport.respond(busy, with: .success(.json("{}", status: .internalServerError)))
        _ = await failing.result
        try await waitUntil { transport.parked == [first.number] || manager.error != nil }
        #expect(manager.error == nil)
        transport.respond(first)
        try await recorder.landings(count: 1)
        #expect(manager.landedFlight == first && manager.error == nil)
        if isShared { _ = try await other.landing(of: pull) }
    }

    @Test func differentCallReplacesTheOneInFlight() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let first = manager.load(Refresh(page: 1))
        let second = manager.load(Refresh(page: 2))
        try await managers.transport.waitForArrival(of: second)
        managers.transport.respond(second)
        try await recorder.landings(count: 1)
        #expect(recorder.landings.map(\.flight) == [second])
        let records = try await managers.records.records(count: 2)
        #expect(records.first { $0.id == first }?.outcome.name == "replaced")
    }

    @Test func reloadReplacesACallThatMayBeCached() async throws {
        let manager = APIManager<Stored>(on: managers.network, delegate: recorder)
        let refresh = CallOptions(cacheUse: .refresh)
        let first = manager.load(Stored())
        let pulled = manager.load(Stored(), options: refresh)
        #expect(pulled != first)
        #expect(manager.load(Stored(), options: refresh) == pulled && manager.load(Stored()) == pulled)
        manager.cancelAll()
    }

    @Test func callsWithOtherOptionsOrAccountsAreDifferent() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        var last = manager.load(Refresh())
        for options in [CallOptions(priority: .high), CallOptions(wholeDeadline: .seconds(1)), .standard] {
            let next = manager.load(Refresh(), options: options)
            #expect(next != last)
            last = next
        }
        #expect(manager.load(Refresh(), options: CallOptions(cache: .off, priority: .normal)) == last)
        managers.network.configure(Estates.self) { $0.account = "anna" }
        #expect(manager.load(Refresh()) != last)
        manager.cancelAll()
    }

    @Test func bodiesAreComparedAndStreamsDiffer() async throws {
        let manager = APIManager<Note>(on: managers.network, delegate: recorder)
        let first = manager.load(Note(body: .bytes([1])))
        #expect(manager.load(Note(body: .bytes([1]))) == first)
        let second = manager.load(Note(body: .bytes([2])))
        #expect(second != first)
        let stream = RequestBody.stream(BodyStream([1]), byteCount: 1, isReplayable: true)
        let streamed = manager.load(Note(body: stream))
        #expect(manager.load(Note(body: stream)) != streamed)
        manager.cancelAll()
    }

    @Test(arguments: [OverlapPolicy.joinOrReplace, .cancelRunning])
    func noOlderResponseLandsAfterAnInvalidCall(overlap: OverlapPolicy) async throws {
        let managers = ManagerBench(ignoresCancellation: true)
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder, overlap: overlap)
        let good = manager.load(Filter(city: "a"))
        try await managers.transport.waitForArrival(of: good)
        let bad = manager.load(Filter(city: ""))
        managers.transport.respond(good)
        let records = try await managers.records.records(count: 2)
        #expect(records.first { $0.id == good }?.outcome.name == "replaced")
        #expect(recorder.landings.map(\.flight) == [bad] && manager.error?.kind == .invalidParameters)
        #expect(manager.rawData == nil && !manager.isLoading)
    }

    @Test(arguments: [OverlapPolicy.joinOrReplace, .cancelRunning])
    func vetoedCallLeavesTheOneInFlight(overlap: OverlapPolicy) async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder, overlap: overlap)
        let gate = CityGate()
        manager.interceptor = gate
        let good = manager.load(Filter(city: "a"))
        let vetoed = manager.load(Filter(city: "closed"))
        try await managers.transport.waitForArrival(of: good)
        managers.transport.respond(good)
        try await recorder.landings(count: 1)
        #expect(recorder.landings.map(\.flight) == [good] && manager.error == nil)
        #expect(try await managers.outcome(of: vetoed, among: 2)?.kind == .vetoed)

        // The interceptor decides that nothing older is shown, either.
        gate.cancelsOthers = true
        let other = manager.load(Filter(city: "b"))
        manager.load(Filter(city: "closed"))
        #expect(!manager.isLoading)
        #expect(try await managers.outcome(of: other, among: 4)?.kind == .cancelled)
    }

    @Test func unencodableCallReplacesOlderOnes() async throws {
        let manager = APIManager<Bounded>(on: managers.network, delegate: recorder)
        let good = manager.load(Bounded(price: 1))
        let bad = manager.load(Bounded(price: .infinity))
        try await recorder.landings(count: 1)
        #expect(recorder.landings.map(\.flight) == [bad])
        #expect(try await managers.outcome(of: good, among: 2)?.name == "replaced")
    }

    @Test(arguments: [OverlapPolicy.ignoreNew, .concurrent])
    func invalidCallCancelsOlderOnesOnlyByPolicy(overlap: OverlapPolicy) async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder, overlap: overlap)
        let good = manager.load(Filter(city: "a"))
        let bad = manager.load(Filter(city: ""))
        try await recorder.landings(count: 1)
        try await managers.transport.waitForArrival(of: good)
        managers.transport.respond(good)
        try await recorder.landings(count: 2)
        #expect(recorder.landings.map(\.flight) == [bad, good] && manager.error == nil)
    }
}

/// Vetoes the calls for one city.
@MainActor
private final class CityGate: Interceptor {
    var cancelsOthers = false

    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        guard (endpoint as? Filter)?.city == "closed" else { return true }
        if cancelsOthers { manager?.cancelAll() }
        return false
    }
}

private struct Stored: Endpoint {
    static let service = Estates.self
    static let coalesces = false
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "stored" }
}

private struct Note: Endpoint {
    static let service = Estates.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    var path: EndpointPath { "note" }
    @Unencoded var body: RequestBody = .none
    var content: RequestBody { body }
}

private struct Bounded: Endpoint {
    static let service = Estates.self
    static let overlap = OverlapPolicy.cancelRunning
    var path: EndpointPath { "bounded" }
    var price: Double
}
