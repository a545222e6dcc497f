import HTTPTypes
import RunwayJSON
import RunwayTesting
import ServiceContextModule
import Testing

@testable import Runway

/// Responses that are in the manager when `load` returns, before its delegate is notified.
@MainActor
struct ImmediateLandingTests {
    private let layer = CachedLayer()
    private let recorder = LandingRecorder()

    /// A manager that has landed work 1, and has work 2 in the cache.
    private func manager(_ overlap: OverlapPolicy = .concurrent) async throws -> APIManager<Work> {
        let manager = APIManager<Work>(on: layer.network, delegate: recorder, overlap: overlap)
        manager.load(Work(id: 1))
        try await recorder.landings(count: 1)
        _ = try await layer.network.call(Work(id: 2))
        return manager
    }

    private func record(of flight: FlightID) async -> FlightRecord? {
        await layer.network.flushRecords()
        return layer.records.records.first { $0.id == flight }
    }

    @Test func cachedResponseIsThereWhenLoadReturns() async throws {
        let manager = try await manager()
        let flight = manager.load(Work(id: 2))
        #expect(manager.rawData?["n"].int == 2 && manager.rawData?.source == .cache && manager.landedFlight == flight)
        #expect(recorder.landings.count == 1 && !manager.isLoading && !manager.isProvisional)
        try await recorder.landings(count: 2)
        #expect(manager.rawData?["n"].int == 2)
    }

    private func load(with manager: APIManager<Work>, inTrace name: String) {
        var context = ServiceContext.topLevel
        context[TraceName.self] = name
        _ = ServiceContext.withValue(context) { manager.load(Work(id: 2)) }
    }

    @Test func landingsHaveTheTraceOfTheirLoads() async throws {
        let manager = try await manager()
        var values: [String?] = []
        recorder.onLanding = { _, _ in values.append(ServiceContext.current?[TraceName.self]) }
        manager.load(Work(id: 2))
        for name in ["a", "b"] { load(with: manager, inTrace: name) }
        manager.load(Work(id: 2))
        try await recorder.landings(count: 5)
        #expect(values == [nil, "a", "b", nil])
    }

    @Test func landingsHaveTheirLoadsTaskLocalValues() async throws {
        let manager = try await manager()
        var values: [String] = []
        recorder.onLanding = { _, _ in values.append(Bound.name) }
        let loads = ["a", "b"].map { name in
            Bound.$name.withValue(name) { Task { manager.load(Work(id: 2)) } }
        }
        for load in loads { _ = await load.value }
        try await recorder.landings(count: 3)
        #expect(values.sorted() == ["a", "b"])
    }

    @Test func vetoRestoresTheManager() async throws {
        let manager = try await manager()
        let veto = VetoingInterceptor { _ in true }
        manager.interceptor = veto
        let landed = manager.landedFlight
        let flight = manager.load(Work(id: 2))
        #expect(manager.rawData?["n"].int == 2)
        try await waitUntil { manager.rawData?["n"].int == 1 }
        #expect(manager.landedFlight == landed && (manager.landedEndpoint as? Work)?.id == 1)
        #expect(await record(of: flight)?.outcome.name == "vetoed")
        #expect(recorder.landings.count == 1)
    }

    @Test func vetoRestoresTheError() async throws {
        let manager = try await manager()
        layer.server.respond(with: .success(.json("{}", status: .notFound)))
        let failed = manager.load(Work(id: 3))
        try await recorder.landings(count: 2)
        let veto = VetoingInterceptor { _ in true }
        manager.interceptor = veto
        manager.load(Work(id: 2))
        #expect(manager.error == nil)
        try await waitUntil { manager.error != nil }
        #expect(manager.error?.status == .notFound && manager.landedFlight == failed && manager.rawData?["n"].int == 1)
    }

    @Test(arguments: [true, false]) func cancelOrReplacementRestoresTheManager(cancels: Bool) async throws {
        let manager = try await manager(.cancelRunning)
        let flight = manager.load(Work(id: 2))
        if cancels { manager.cancel(flight) } else { manager.load(Work(id: 3)) }
        #expect(manager.rawData?["n"].int == 1 && (manager.landedEndpoint as? Work)?.id == 1)
        #expect(recorder.landings.count == 1)
        #expect(await record(of: flight)?.outcome.name == (cancels ? "cancelled" : "replaced"))
        #expect(!recorder.landings.contains { $0.flight == flight })
    }

    @Test(arguments: [OverlapPolicy.joinOrReplace, .cancelRunning, .concurrent])
    func callFailingAtOnceReplacesUnderCancellingPolicy(overlap: OverlapPolicy) async throws {
        let layer = ParkedLayer()
        let manager = APIManager<Work>(on: layer.network, delegate: recorder, overlap: overlap)
        let running = manager.load(Work(id: 1))
        let failing = manager.load(Work(id: 2), options: CallOptions(cacheUse: .onlyIfCached))
        try await recorder.landings(count: 1)
        #expect(manager.landedFlight == failing && manager.error?.kind == .notCached)
        #expect(manager.isLoading == (overlap == .concurrent))
        guard overlap == .concurrent else { return }
        layer.respond(try await layer.arrival(), 1)
        try await recorder.landings(count: 2)
        #expect(manager.landedFlight == running && manager.rawData?["n"].int == 1)
    }

    @Test(arguments: [[0, 1], [1, 0]]) func cancelsInAnyOrderRestoreWhatLanded(order: [Int]) async throws {
        let manager = try await manager()
        _ = try await layer.network.call(Work(id: 3))
        let flights = [manager.load(Work(id: 2)), manager.load(Work(id: 3))]
        #expect(manager.rawData?["n"].int == 3)
        manager.cancel(flights[order[0]])
        #expect(manager.rawData?["n"].int == (order[0] == 0 ? 3 : 2))
        manager.cancel(flights[order[1]])
        #expect(manager.rawData?["n"].int == 1 && manager.state.machine.pending.isEmpty)
    }

    @Test func failureThatLandedMeanwhileStays() async throws {
        let manager = try await manager()
        let flight = manager.load(Work(id: 2))
        let bad = NetworkError(.refused, in: .transporting, "no")
        let other = layer.network.makeFlight(Work.self, .standard)
        _ = manager.state.update { $0.startInFlight(other) }
        manager.land(Landing(other, Work(id: 4), failing: bad))
        manager.cancel(flight)
        #expect(manager.rawData?["n"].int == 1 && manager.error?.kind == .refused && manager.landedFlight == other.id)
    }

    @Test func refusedCachedResponseIsFetchedAgain() async throws {
        let manager = try await manager()
        let validator = NumberValidator(refused: 2)
        manager.validator = validator
        let flight = manager.load(Work(id: 2))
        #expect(manager.rawData?["n"].int == 1 && manager.isLoading)
        try await recorder.landings(count: 2)
        #expect(manager.rawData?["n"].int == 3 && manager.rawData?.source == .network)
        #expect(
            await record(of: flight)?.decisions(of: CacheDecision.self).prefix(3) == [
                .hit(age: .zero), .refused, .miss,
            ])
    }

    @Test func refusedResponseOfACustomStageFails() async throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(MemoryStage(), before: .reading)
        let network = NetworkLayer(transport: layer.transport, pipeline: pipeline)
        let manager = APIManager<Work>(on: network, delegate: recorder)
        let validator = NumberValidator(refused: nil)
        manager.validator = validator
        manager.load(Work())
        #expect(manager.rawData == nil)
        try await recorder.landings(count: 1)
        #expect(manager.rawData == nil && manager.error?.kind == .invalidResponse)
    }

    @Test func refusedResponseIsNotCached() async throws {
        let manager = APIManager<Work>(on: layer.network, delegate: recorder)
        let validator = NumberValidator(refused: 1)
        manager.validator = validator
        manager.load(Work())
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .invalidResponse && layer.network.cache.count == 0)
        manager.load(Work())
        try await recorder.landings(count: 2)
        #expect(manager.rawData?["n"].int == 2 && layer.network.cache.count == 1)
    }

    @Test func cancelledCallStoresNoResponse() async throws {
        let layer = ParkedLayer()
        let manager = APIManager<Work>(on: layer.network, delegate: recorder)
        let flight = manager.load(Work())
        try await layer.transport.waitForArrival(of: flight)
        manager.cancelAll()
        try await layer.transport.wait { $0.cancelled.contains(flight.number) }
        #expect(layer.network.cache.count == 0)
    }
}

@MainActor
private final class NumberValidator: Validator {
    /// The number that is refused; `nil` refuses a response without one.
    let refused: Int?
    init(refused: Int?) { self.refused = refused }

    func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) throws {
        if rawData["n"].int == refused { throw Refused("The number is refused.") }
    }
}

private enum TraceName: ServiceContextKey {
    typealias Value = String
}

private enum Bound {
    @TaskLocal static var name = ""
}
