import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Stale responses that land in a manager while the fresh one is fetched.
@MainActor
struct ProvisionalLandingTests {
    private let options = CallOptions.policy(.timeToLive(.seconds(10), staleWhileRevalidate: .seconds(60)))
    private let layer = ParkedLayer()
    private let recorder = LandingRecorder()

    /// A manager after a load that found a stale response, and the flight in progress.
    private func loaded(
        _ prepare: (APIManager<Work>) -> Void = { _ in }
    ) async throws -> (manager: APIManager<Work>, flight: FlightID) {
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(15))
        let manager = APIManager<Work>(on: layer.network, delegate: recorder, overlap: .cancelRunning)
        prepare(manager)
        return (manager, manager.load(Work(), options: options))
    }

    private var received: [String] {
        recorder.landings.map { landing in
            switch landing.result {
            case .success(let rawData): "\(rawData["n"].int ?? 0) \(rawData.source)"
            case .failure(let error): "\(error.kind)"
            }
        }
    }

    @Test func staleResponseLandsBeforeTheFreshOne() async throws {
        let (manager, flight) = try await loaded()
        #expect(manager.rawData?["n"].int == 1 && manager.rawData?.source == .staleCache)
        #expect(manager.isLoading && manager.isProvisional && recorder.landings.isEmpty)
        try await recorder.landings(count: 1)
        #expect(manager.isLoading && manager.isProvisional && manager.landedFlight == flight)
        try await layer.transport.waitForArrival(of: flight)
        layer.respond(flight.number, 2)
        try await recorder.landings(count: 2)
        #expect(received == ["1 staleCache", "2 network"])
        #expect(!manager.isLoading && !manager.isProvisional && manager.rawData?.source == .network)
        let record = try await layer.records.records(count: 2)[1]
        #expect(record.id == flight && record.source == .network && record.outcome.name == "succeeded")
        #expect(try await layer.network.call(Work(), options: options)["n"].int == 2)
    }

    @Test func anUnchangedFreshResponseDoesNotLandTwice() async throws {
        let (manager, flight) = try await loaded()
        try await layer.transport.waitForArrival(of: flight)
        layer.respond(flight.number, 1)
        let record = try await layer.records.records(count: 2)[1]
        #expect(record.decisions(of: CacheDecision.self).last == .unchanged && record.source == .network)
        #expect(received == ["1 staleCache"])
        #expect(!manager.isLoading && !manager.isProvisional && manager.rawData?.source == .network)
        #expect(try await layer.network.call(Work(), options: options).source == .cache)
    }

    @Test func failedRevalidationLandsAndTheStaleResponseStays() async throws {
        let (manager, flight) = try await loaded()
        try await layer.transport.waitForArrival(of: flight)
        layer.transport.respond(flight.number, with: .success(.json("{}", status: .notFound)))
        try await recorder.landings(count: 2)
        #expect(received == ["1 staleCache", "refused"])
        #expect(manager.rawData?["n"].int == 1 && manager.error?.status == .notFound && !manager.isLoading)
    }

    @Test func staleIfErrorHidesTheFailedRevalidation() async throws {
        let options = CallOptions.policy(
            .timeToLive(.seconds(10), staleWhileRevalidate: .seconds(60), staleIfError: .seconds(60)))
        let manager = APIManager<Work>(on: layer.network, delegate: recorder)
        try await layer.fill(1, options: options)
        layer.clock.advance(by: .seconds(15))
        let flight = manager.load(Work(), options: options)
        try await layer.transport.waitForArrival(of: flight)
        layer.transport.respond(flight.number, with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        let record = try await layer.records.records(count: 2)[1]
        #expect(record.outcome.name == "succeeded" && record.source == .staleCache)
        #expect(received == ["1 staleCache"] && manager.rawData?.source == .staleCache && !manager.isLoading)
    }

    @Test func cancelBetweenTheTwoPreventsTheSecond() async throws {
        let (manager, flight) = try await loaded()
        try await recorder.landings(count: 1)
        try await layer.transport.waitForArrival(of: flight)
        manager.cancel(flight)
        try await layer.transport.wait { $0.cancelled.contains(flight.number) }
        #expect(try await layer.records.records(count: 2)[1].outcome.name == "cancelled")
        #expect(received == ["1 staleCache"] && manager.rawData?["n"].int == 1 && !manager.isLoading)
    }

    @Test func aReplacedCallLandsNothingMore() async throws {
        let (manager, first) = try await loaded()
        try await recorder.landings(count: 1)
        try await layer.transport.waitForArrival(of: first)
        let second = manager.load(Work(id: 2), options: options)
        try await layer.transport.waitForArrival(of: second)
        layer.respond(second.number, 2)
        try await recorder.landings(count: 2)
        #expect(received == ["1 staleCache", "2 network"])
        let records = try await layer.records.records(count: 3)
        #expect(records.first { $0.id == first }?.outcome.name == "replaced")
    }

    @Test func nothingMoreLandsWhenTheManagerGoes() async throws {
        var (manager, flight): (APIManager<Work>?, FlightID) = try await loaded()
        try await recorder.landings(count: 1)
        try await layer.transport.waitForArrival(of: flight)
        #expect(manager != nil)
        manager = nil
        try await layer.transport.wait { $0.cancelled.contains(flight.number) }
        #expect(try await layer.records.records(count: 2)[1].outcome.name == "cancelled")
        #expect(received == ["1 staleCache"])
    }

    @Test func cancelBeforeTheStaleNotificationRestoresTheManager() async throws {
        let (manager, flight) = try await loaded()
        manager.cancel(flight)
        #expect(manager.rawData == nil && manager.landedFlight == nil && !manager.isLoading)
        #expect(try await layer.records.records(count: 2)[1].outcome.name == "cancelled")
        #expect(recorder.landings.isEmpty)
    }

    @Test func vetoOfTheStaleResponseLeavesTheFresh() async throws {
        let gate = VetoingInterceptor { $0.source == .staleCache }
        let (manager, flight) = try await loaded { $0.interceptor = gate }
        #expect(manager.rawData != nil)
        try await layer.transport.waitForArrival(of: flight)
        try await waitUntil { manager.rawData == nil }
        layer.respond(flight.number, 1)
        try await recorder.landings(count: 1)
        #expect(received == ["1 network"], "the same bytes land: the delegate was not notified of them yet")
        let record = try await layer.records.records(count: 2)[1]
        #expect(record.decisions(of: CallDecision.self) == [.landedImmediately, .vetoedProvisional])
    }

    @Test func vetoOfTheFreshResponseLeavesTheStale() async throws {
        let gate = VetoingInterceptor { $0.source == .network }
        let (manager, flight) = try await loaded { $0.interceptor = gate }
        try await layer.transport.waitForArrival(of: flight)
        layer.respond(flight.number, 2)
        #expect(try await layer.records.records(count: 2)[1].outcome.name == "vetoed")
        #expect(received == ["1 staleCache"] && manager.rawData?["n"].int == 1 && !manager.isLoading)
    }

    @Test func bothLandingsPassTheHooks() async throws {
        let log = VetoingInterceptor { _ in false }
        let (manager, flight) = try await loaded { $0.interceptor = log }
        try await layer.transport.waitForArrival(of: flight)
        layer.respond(flight.number, 2)
        try await recorder.landings(count: 2)
        #expect(manager.rawData?["n"].int == 2)
        #expect(
            log.entries == [
                "started", "received staleCache", "should staleCache", "succeeded", "received network",
                "should network", "succeeded",
            ])
    }

    @Test func staleResponseIsNotifiedBeforeTheFreshOne() async throws {
        let (manager, flight) = try await loaded()
        // Lands in this very turn, in which the delegate was not notified of the stale response yet.
        let fresh = try await network(responding: #"{"n":2}"#).call(QueryCall())
        manager.land(Landing(try #require(manager.state.machine.flight(flight)), Work(), fresh))
        #expect(received.last == "2 network" && received.first == "1 staleCache" && received.count == 2)
    }

    private func network(responding text: String) -> NetworkLayer {
        NetworkLayer(transport: StubTransport { _ in .json(text) }, pipeline: .tested)
    }
}

/// Vetoes successes, and writes down what hooks it passed.
@MainActor
final class VetoingInterceptor: Interceptor {
    private let vetoes: (RawData) -> Bool
    private(set) var entries: [String] = []

    init(_ vetoes: @escaping (RawData) -> Bool) { self.vetoes = vetoes }

    func afterCall(_ call: InterceptedCall, by manager: (any APIManaging)?) { entries.append("started") }
    func beforeLanding(
        _ result: Result<RawData, NetworkError>, of call: InterceptedCall, by manager: (any APIManaging)?
    ) {
        entries.append("received \((try? result.get())?.source.name ?? "failure")")
    }
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        entries.append("should \(rawData.source)")
        return !vetoes(rawData)
    }
    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
        entries.append("succeeded")
    }
}
