import HTTPTypes
import Observation
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@MainActor
struct LandingTests {
    let managers = ManagerBench()
    let recorder = LandingRecorder()

    @Test func successLandsOnceAndIsHeld() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let flight = manager.load(Refresh(page: 7))
        #expect(manager.isLoading)
        #expect(recorder.landings.isEmpty, "the delegate is never notified from inside load")
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight)
        try await recorder.landings(count: 1)

        #expect(!manager.isLoading)
        #expect(manager.landedFlight == flight)
        #expect((manager.landedEndpoint as? Refresh)?.page == 7)
        #expect(manager.response?.status == .ok)
        #expect(manager.error == nil)
        let records = try await managers.records.records(count: 1)
        #expect(records.map(\.outcome.name) == ["succeeded"])
        manager.clear()
        #expect(manager.rawData == nil && manager.response == nil && manager.landedFlight == nil)
    }

    @Test func failureLandsOnceAndLeavesTheResponse() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let first = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: first)
        managers.transport.respond(first)
        try await recorder.landings(count: 1)
        let second = manager.load(Refresh(page: 2))
        try await managers.transport.waitForArrival(of: second)
        managers.transport.respond(second.number, with: .success(.json("{}", status: .notFound)))
        try await recorder.landings(count: 2)

        #expect(manager.error?.kind == .refused)
        #expect(manager.error?.status == .notFound)
        #expect(manager.response?.status == .notFound && manager.error?.rawData?.text == "{}")
        #expect(manager.rawData?["flight"].uint64 == first.number)
        #expect(try manager.fetch(PageReformer()) == 1, "the response is reformed with the parameters of its own call")
        manager.clear()
        #expect(manager.error == nil)
    }

    @Test func cancellationByTheTransportLandsAsCancelled() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .failure(NetworkError(.cancelled, in: .transporting, "Cut.")))
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .cancelled && !manager.isLoading)
        #expect(try await managers.outcome(of: flight, among: 1)?.name == "cancelled")
    }

    @Test func badParameterNeverLeavesTheApp() async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        manager.load(Filter(city: ""))
        #expect(recorder.landings.isEmpty)
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .invalidParameters)
        #expect(manager.error?.step == .validating)
        #expect(managers.transport.parked.isEmpty)
        #expect(try await managers.records.records(count: 1).first?.attempts.isEmpty == true)
    }

    @Test func endpointCheckOfTheResponseFailsTheCall() async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        let flight = manager.load(Filter(city: "a"))
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json(#"{"refused":true}"#)))
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .invalidResponse)
        #expect(manager.error?.step == .checking)
        #expect(manager.error?.request == "GET https://estates.example/v1/filter?city=a")
        #expect(manager.rawData == nil)
    }

    @Test func cancelledCallDoesNotLand() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder, overlap: .concurrent)
        let flights = (1...3).map { manager.load(Refresh(page: $0)) }
        for flight in flights { try await managers.transport.waitForArrival(of: flight) }
        manager.cancel(flights[1])
        try await managers.transport.wait { $0.cancelled.contains(flights[1].number) }
        managers.transport.respond(flights[2])
        try await recorder.landings(count: 1)
        manager.cancelAll()
        #expect(!manager.isLoading)
        let records = try await managers.records.records(count: 3)
        #expect(records.sorted { $0.id < $1.id }.map(\.outcome.name) == ["cancelled", "cancelled", "succeeded"])
        #expect(recorder.landings.map(\.flight) == [flights[2]])
        manager.cancel(flights[2])
        #expect(recorder.landings.count == 1, "a flight that has landed can't be cancelled")
    }

    @Test func refusedCallCanBeCancelled() async throws {
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        let flight = manager.load(Filter(city: ""))
        manager.cancel(flight)
        let records = try await managers.records.records(count: 1)
        #expect(records.map(\.outcome.name) == ["cancelled"])
        #expect(recorder.landings.isEmpty)
    }

    @Test func absorbedErrorDoesNotLand() async throws {
        let managers = ManagerBench()
        let manager = APIManager<Quiet>(on: managers.network, delegate: recorder)
        let flight = manager.load(Quiet())
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json(#"{"code":9}"#)))
        let record = try await managers.records.records(count: 1)[0]
        #expect(record.outcome.name == "absorbed")
        #expect(recorder.landings.isEmpty && !manager.isLoading && manager.error == nil)
    }

    @Test func cachedResponseLandsInALaterTurn() async throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(MemoryStage(), after: .reading)
        let managers = ManagerBench(pipeline: pipeline)
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        manager.load(Refresh())
        #expect(manager.rawData?["held"].bool == true)
        #expect(try manager.fetch(PageReformer()) == 1)
        #expect(recorder.landings.isEmpty)
        #expect(!manager.isLoading)
        try await recorder.landings(count: 1)
        let record = try await managers.records.records(count: 1)[0]
        #expect(record.attempts.isEmpty)
        #expect(record.source == .cache)
        #expect(manager.rawData?.source == .cache)
    }

    @Test func oneDelegateServesSeveralManagers() async throws {
        let refresh = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let filter = APIManager<Filter>(on: managers.network, delegate: recorder)
        var seen: [String] = []
        recorder.onLanding = { _, manager in
            if manager === refresh { seen.append("refresh") } else if manager === filter { seen.append("filter") }
        }
        for (count, flight) in [refresh.load(Refresh()), filter.load(Filter(city: "a"))].enumerated() {
            try await managers.transport.waitForArrival(of: flight)
            managers.transport.respond(flight)
            try await recorder.landings(count: count + 1)
        }
        #expect(seen == ["refresh", "filter"])
    }

    @Test func managerIsObservable() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        let changes = Mutex<[String]>([])
        func observe(_ name: String, _ read: @escaping () -> Void) {
            withObservationTracking(read) { changes.withLock { $0.append(name) } }
        }
        observe("isLoading") { _ = manager.isLoading }
        observe("rawData") { _ = manager.rawData }
        let flight = manager.load(Refresh())
        #expect(changes.withLock { $0 } == ["isLoading"])
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight)
        try await recorder.landings(count: 1)
        #expect(changes.withLock { $0 } == ["isLoading", "rawData"])
    }

    @Test func parameterSourceSuppliesParameters() async throws {
        let source = Source()
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        let unsent = manager.load()
        try await recorder.landings(count: 1)
        #expect(manager.error?.detail.contains("parameter source is missing") == true)
        #expect(manager.landedFlight == unsent && manager.landedEndpoint == nil)
        manager.parameterSource = source
        source.next = Refresh()
        manager.load()
        try await recorder.landings(count: 2)
        #expect(manager.error?.detail.contains("supplied a Refresh") == true)
        source.next = Filter(city: "上海")
        let flight = manager.load()
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight)
        try await recorder.landings(count: 3)
        #expect((manager.landedEndpoint as? Filter)?.city == "上海")
    }
}

struct PageReformer: Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Int {
        (endpoint as? Refresh)?.page ?? 0
    }
}

enum QuietService: APIService {
    static let name = "quiet"
    static let environments: [ServiceEnvironment: String] = [.release: "https://quiet.example"]
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        rawData?["code"].int == 9 ? .failed(ServiceError(code: "9"), isAbsorbed: true) : .fine
    }
}

struct Quiet: Endpoint {
    static let service = QuietService.self
    var path: EndpointPath { "quiet" }
}

/// A stage that has every response in memory.
struct MemoryStage: RequestStage {
    var step: FlightStep { .customStage("memory") }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        var response = Response.json(#"{"held":true}"#)
        response.source = .cache
        response.verdict = .fine
        return .response(response)
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}

@MainActor
private final class Source: ParameterSource {
    var next: (any Endpoint)?
    func endpoint(for manager: any APIManaging) -> (any Endpoint)? { next }
}
