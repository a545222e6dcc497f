import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// What a second load of a list does while the first is in flight.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct PagedOverlapTests {
    private let managers = ManagerBench()
    private let recorder = LandingRecorder()

    private func manager<E: PagedEndpoint>(_ type: E.Type = CityHomes.self) -> PagedAPIManager<E> {
        PagedAPIManager(on: managers.network, delegate: recorder)
    }

    private func respond(_ flight: FlightID, rows: [Int]) async throws {
        try await managers.transport.waitForArrival(of: flight)
        let items = rows.map { #"{"id":\#($0)}"# }.joined(separator: ",")
        managers.transport.respond(flight.number, with: .success(.json(#"{"data":{"list":[\#(items)]}}"#)))
    }

    @Test func pullingFiveTimesMakesOneRequest() async throws {
        let list = manager()
        let first = list.load(CityHomes(city: "a"))
        let pulls = (1...5).map { _ in list.reload() }
        #expect(pulls.allSatisfy { $0 == first })
        try await respond(first, rows: [1, 2])
        try await recorder.landings(count: 1)

        #expect(recorder.landings.map(\.flight) == [first] && list.items.count == 2)
        let records = try await managers.records.records(count: 6)
        #expect(records.count { $0.outcome.kind == .joined && $0.outcome.runningFlight == first } == 5)
        #expect(records.map(\.attempts.count).reduce(0, +) == 1)
        #expect(list.reload() != first, "what has landed is joined by nothing")
        list.cancelAll()
    }

    @Test func reloadReplacesALoadThatMayBeCached() async throws {
        let list = manager(StoredHomes.self)
        let first = list.load(StoredHomes())
        let pulls = (1...3).map { _ in list.reload() }
        #expect(pulls[0] != first && Set(pulls).count == 1)
        #expect(list.load(StoredHomes()) == pulls[0])
        try await respond(pulls[0], rows: [1])
        try await recorder.landings(count: 1)
        #expect(try await managers.outcome(of: first, among: 5)?.name == "replaced")
    }

    @Test func otherListReplacesTheLoadInFlight() async throws {
        let list = manager()
        let first = list.load(CityHomes(city: "a"))
        let wait = Task { try await list.landing(of: first) }
        try await waitUntil { list.waiters.waitingCount == 1 }
        let second = list.load(CityHomes(city: "b"))
        #expect(second != first && list.endpoint?.city == "b")
        #expect(try await wait.failure().detail.contains("replaced"))
        try await respond(second, rows: [7])
        try await recorder.landings(count: 1)

        #expect(recorder.landings.map(\.flight) == [second])
        let records = try await managers.records.records(count: 2)
        #expect(records.first { $0.id == first }?.outcome.kind == .replaced)
        let decisions = records.first { $0.id == second }?.decisions(of: CallDecision.self)
        #expect(decisions == [.replacedRunning(1)])
    }

    @Test func firstPageReplacesTheNextPageInFlight() async throws {
        let list = manager(CursorList.self)
        let first = list.load(CursorList())
        try await managers.transport.waitForArrival(of: first)
        let response = #"{"data":{"list":[{"id":1}],"next":"n"}}"#
        managers.transport.respond(first.number, with: .success(.json(response)))
        try await recorder.landings(count: 1)
        let next = try #require(list.loadNextPage())
        let reload = list.reload()
        #expect(reload != next && list.loadNextPage() == reload)
        list.cancelAll()
    }

    @Test(arguments: [OverlapPolicy.cancelRunning, .concurrent])
    func identicalLoadReplacesUnderOtherPolicies(policy: OverlapPolicy) async throws {
        func replaced<E: PagedEndpoint>(_ endpoint: E) async throws {
            let list = manager(E.self)
            let flights = [list.load(endpoint), list.load(endpoint)]
            try await respond(flights[1], rows: [1])
            try await recorder.landings(count: 1)
            #expect(flights[0] != flights[1] && recorder.landings.map(\.flight) == [flights[1]])
            #expect(try await managers.outcome(of: flights[0], among: 2)?.kind == .replaced)
        }
        if policy == .concurrent { try await replaced(ConcurrentHomes()) } else { try await replaced(NewestHomes()) }
    }

    @Test func ignoredLoadReturnsTheOneInFlight() async throws {
        let list = manager(ReservedHomes.self)
        let first = list.load(ReservedHomes(city: "a"))
        #expect(list.load(ReservedHomes(city: "b")) == first && list.endpoint?.city == "a")
        // What can't be made fails, and does not end the load in flight.
        let bad = list.load(ReservedHomes(city: ""))
        #expect(bad != first && list.isLoading)
        try await recorder.landings(count: 1)
        #expect(recorder.landings.map(\.flight) == [bad] && list.error?.kind == .invalidParameters)
        #expect((list.landedEndpoint as? ReservedHomes)?.city.isEmpty == true)
        try await respond(first, rows: [1])
        try await recorder.landings(count: 2)
        #expect(list.error == nil && list.items.count == 1)
    }

    @Test func invalidLoadReplacesTheOneInFlight() async throws {
        let list = manager()
        let good = list.load(CityHomes(city: "a"))
        try await managers.transport.waitForArrival(of: good)
        let bad = list.load(CityHomes(city: ""))
        #expect(!list.isLoading)
        let error = await #expect(throws: NetworkError.self) { try await list.landing(of: bad) }
        #expect(error?.kind == .invalidParameters && recorder.landings.map(\.flight) == [bad])
        #expect(try await managers.outcome(of: good, among: 2)?.kind == .replaced)
    }

    @Test func vetoedLoadLeavesTheOneInFlight() async throws {
        let list = manager()
        let gate = HomesGate()
        list.interceptor = gate
        let good = list.load(CityHomes(city: "a"))
        let vetoed = list.load(CityHomes(city: "closed"))
        #expect(vetoed != good && list.isLoading && list.endpoint?.city == "a")
        try await respond(good, rows: [1])
        try await recorder.landings(count: 1)
        #expect(recorder.landings.map(\.flight) == [good] && list.error == nil)
        #expect(try await managers.outcome(of: vetoed, among: 2)?.kind == .vetoed)
    }

    /// The user pulled, and an open circuit is no reason to send nothing.
    @Test func reloadIsSentAlthoughTheCircuitIsOpen() async throws {
        let layer = StubbedLayer(admission: AdmissionLimits()) { _ in .json("{}", status: .internalServerError) }
        let list = PagedAPIManager<CityHomes>(on: layer.network)
        func error(of flight: FlightID) async -> NetworkError? {
            await #expect(throws: NetworkError.self) { try await list.landing(of: flight) }
        }
        for number in 1...6 {
            let kind = await error(of: list.load(CityHomes(city: "\(number)")))?.kind
            #expect(kind == (number < 6 ? .refused : .unavailable))
        }
        #expect(layer.transport.requests.count == 5)
        #expect(await error(of: list.reload())?.kind == .refused)
        #expect(layer.transport.requests.count == 6)
    }

    @Test func pulledListsLaterRequestBypassesTheCircuit() async throws {
        let managers = ManagerBench(admission: .oneSlot)
        let (transport, network) = (managers.transport, managers.network)
        let list = PagedAPIManager<CursorList>(on: network, delegate: recorder)
        let first = list.load(CursorList())
        try await transport.waitForArrival(of: first)
        let failing = Task { try await network.call(CursorList(cursor: "other")) }
        try await waitUntil { network.admission.counts.waiting == 1 }
        // After a page without rows another one is requested. Its request waits for the slot.
        transport.respond(first.number, with: .success(.json(#"{"data":{"list":[],"next":"n"}}"#)))
        try await waitUntil { network.admission.counts.waiting == 1 && !transport.parked.isEmpty }
        let busy = try #require(transport.parked.first)
        #expect(list.reload() == first)
        transport.respond(busy, with: .success(.json("{}", status: .internalServerError)))
        _ = await failing.result
        try await waitUntil { !transport.parked.isEmpty || list.error != nil }
        #expect(list.error == nil && list.isLoading)
        list.cancelAll()
    }

    @Test func validatorReceivesThePagedManager() async throws {
        let list = manager()
        let validator = HomesValidator()
        list.validator = validator
        try await respond(list.load(CityHomes(city: "a")), rows: [1])
        try await recorder.landings(count: 1)
        #expect(validator.managers == [ObjectIdentifier(list), ObjectIdentifier(list)])
    }

    @Test func hookThatMakesAnotherLoadReplacesTheFirst() async throws {
        let list = manager()
        let gate = HomesGate()
        gate.onClosed = { list.load(CityHomes(city: "open")) }
        list.interceptor = gate
        list.load(CityHomes(city: "a"))
        list.load(CityHomes(city: "closed"))
        #expect(list.endpoint?.city == "open" && list.isLoading)
        let flight = try #require(list.loadNextPage())
        try await respond(flight, rows: [3])
        try await recorder.landings(count: 1)
        #expect((list.landedEndpoint as? CityHomes)?.city == "open")
    }
}

/// A list of homes, of which a test asks for the first page alone.
private protocol Homes: PagedEndpoint {}

extension Homes {
    static var service: Estates.Type { Estates.self }
    static var paging: PageStyle { .offset }
    var path: EndpointPath { "homes" }
    mutating func ask(for page: PageRequest) {}
    func read(_ rawData: RawData) throws -> PageContent { try PageContent(rows: rawData["data"]["list"], id: "id") }
}

private struct CityHomes: Homes {
    var city: String
    func validate() throws {
        if city.isEmpty { throw Refused("The city is empty.") }
    }
}

private struct StoredHomes: Homes {
    static let cache = CachePolicy.timeToLive()
    static let coalesces = false
}

private struct NewestHomes: Homes {
    static let overlap = OverlapPolicy.cancelRunning
    static let coalesces = false
}

private struct ConcurrentHomes: Homes {
    static let overlap = OverlapPolicy.concurrent
    static let coalesces = false
}

private struct ReservedHomes: Homes {
    static let overlap = OverlapPolicy.ignoreNew
    var city: String
    func validate() throws {
        if city.isEmpty { throw Refused("The city is empty.") }
    }
}

/// Vetoes the loads for one city. Held by its test alone.
@MainActor
private final class HomesGate: Interceptor {
    var onClosed: () -> Void = {}

    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        guard (endpoint as? CityHomes)?.city == "closed" else { return true }
        onClosed()
        return false
    }
}

/// Accepts everything, and notes who asked. Held by its test alone.
@MainActor
private final class HomesValidator: Validator {
    private(set) var managers: [ObjectIdentifier] = []

    func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) {
        managers.append(ObjectIdentifier(manager))
    }
    func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) {
        managers.append(ObjectIdentifier(manager))
    }
}
