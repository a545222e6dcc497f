import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

@MainActor
struct InterceptorTests {
    let managers = ManagerBench()
    let recorder = LandingRecorder()

    @Test func hooksRunInOrderAndTheLayersFirst() async throws {
        let log = HookLog()
        let shared = Spy("layer", log)
        let own = Spy("manager", log)
        managers.network.add(shared, for: Refresh.self)
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        manager.interceptor = own
        recorder.onLanding = { _, _ in log.entries.append("delegate") }

        let first = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: first)
        managers.transport.respond(first)
        try await recorder.landings(count: 1)
        #expect(
            log.entries == [
                "layer beforeCall", "manager beforeCall", "layer afterCall", "manager afterCall", "layer beforeLanding",
                "manager beforeLanding", "layer beforeSuccess", "manager beforeSuccess", "delegate",
                "layer afterSuccess",
                "manager afterSuccess",
            ])

        log.entries = []
        let second = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: second)
        managers.transport.respond(second.number, with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        try await recorder.landings(count: 2)
        #expect(
            log.entries.suffix(7) == [
                "layer beforeLanding", "manager beforeLanding", "layer beforeFailure", "manager beforeFailure",
                "delegate",
                "layer afterFailure", "manager afterFailure",
            ])
    }

    @Test func vetoedCallDoesNotStart() async throws {
        let spy = Spy("manager", HookLog())
        spy.vetoes = ["beforeCall"]
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        manager.interceptor = spy
        let flight = manager.load(Refresh())
        let record = try await managers.records.records(count: 1)[0]
        #expect(record.id == flight && record.outcome.name == "vetoed" && record.attempts.isEmpty)
        #expect(record.decisions(of: CallDecision.self) == [.vetoedBeforeCall])
        #expect(spy.log.entries == ["manager beforeCall"])
        #expect(!manager.isLoading)
    }

    @Test(arguments: [true, false]) func delegateThatInterceptsHearsALandingOnce(succeeds: Bool) async throws {
        let both = InterceptingDelegate()
        let manager = APIManager<Refresh>(on: managers.network, delegate: both)
        manager.interceptor = both
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json("{}", status: succeeds ? .ok : .notFound)))
        _ = try await managers.records.records(count: 1)
        #expect(both.entries == (succeeds ? ["success", "afterSuccess"] : ["failure", "afterFailure"]))
    }

    @Test(arguments: [true, false]) func vetoOfALandingLeavesTheManagerUnchanged(succeeds: Bool) async throws {
        let spy = Spy("manager", HookLog())
        spy.vetoes = ["beforeSuccess", "beforeFailure"]
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        manager.interceptor = spy
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json("{}", status: succeeds ? .ok : .notFound)))
        let record = try await managers.records.records(count: 1)[0]
        #expect(record.outcome.name == "vetoed")
        #expect(record.decisions(of: CallDecision.self) == [succeeds ? .vetoedSuccess : .vetoedFailure])
        #expect(manager.rawData == nil && manager.error == nil && recorder.landings.isEmpty && !manager.isLoading)
    }

    @Test func changedValueIsCheckedAndSent() async throws {
        let spy = Spy("manager", HookLog())
        spy.change = { endpoint in
            guard var filter = endpoint as? Filter else { return }
            filter.city = filter.city == "empty me" ? "" : "changed"
            endpoint = filter
        }
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        manager.interceptor = spy
        let flight = manager.load(Filter(city: ""))
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight)
        try await recorder.landings(count: 1)
        #expect((manager.landedEndpoint as? Filter)?.city == "changed")
        let record = try await managers.records.records(count: 1)[0]
        #expect(record.attempts.first?.url == "https://estates.example/v1/filter?city=changed")
        #expect(record.sentParameters == ["city": "changed"])

        manager.load(Filter(city: "empty me"))
        try await recorder.landings(count: 2)
        #expect(manager.error?.step == .validating, "parameters are checked after interceptors changed them")
        #expect(
            spy.log.entries.suffix(3) == ["manager beforeCall", "manager beforeFailure", "manager afterFailure"],
            "a call that never started does not complete")
    }

    @Test func changedTypeFailsAsInvalidParameters() async throws {
        let spy = Spy("manager", HookLog())
        spy.change = { $0 = Refresh() }
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        manager.interceptor = spy
        manager.load(Filter(city: "a"))
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .invalidParameters)
        #expect(manager.error?.detail == "An interceptor changed the Filter into a Refresh.")
    }

    @Test func interceptorsAreHeldWeakly() async throws {
        weak var leakedShared: Spy?
        weak var leakedOwn: Spy?
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        do {
            let shared = Spy("layer", HookLog())
            let own = Spy("manager", HookLog())
            managers.network.add(shared, for: Refresh.self)
            manager.interceptor = own
            (leakedShared, leakedOwn) = (shared, own)
        }
        #expect(leakedShared == nil && leakedOwn == nil)
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight)
        try await recorder.landings(count: 1)
    }

    @Test func removedInterceptorIsNotCalled() async throws {
        let spy = Spy("layer", HookLog())
        managers.network.add(spy, for: Refresh.self)
        managers.network.remove(spy, for: Refresh.self)
        APIManager<Refresh>(on: managers.network, delegate: recorder).load(Refresh())
        #expect(spy.log.entries.isEmpty)
    }

    @Test(arguments: ["beforeLanding", "beforeSuccess"])
    func callCancelledByAHookDoesNotLand(hook: String) async throws {
        let spy = Spy("manager", HookLog())
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        manager.interceptor = spy
        spy.onHook = { name in if name == hook { manager.cancelAll() } }
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight)
        let record = try await managers.records.records(count: 1)[0]
        #expect(record.outcome.name == "cancelled")
        #expect(recorder.landings.isEmpty && manager.rawData == nil)
        #expect(!spy.log.entries.contains("manager afterSuccess"))
    }

    @Test func callCancelledByAHookPassesNoOther() async throws {
        let log = HookLog()
        let shared = Spy("layer", log)
        let own = Spy("manager", log)
        managers.network.add(shared, for: Refresh.self)
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        manager.interceptor = own
        shared.onHook = { name in if name == "afterCall" { manager.cancelAll() } }
        let flight = manager.load(Refresh())
        #expect(try await managers.outcome(of: flight, among: 1)?.name == "cancelled")
        #expect(log.entries == ["layer beforeCall", "manager beforeCall", "layer afterCall"])
    }

    @Test func noHookIsPassedALaterCallsResponse() async throws {
        let spy = Spy("manager", HookLog())
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        manager.interceptor = spy
        // The first landing clears the manager before the hooks of the success run, as one that starts a later call does.
        recorder.onLanding = { _, _ in manager.clear() }
        let first = manager.load(Filter(city: "first"))
        try await managers.transport.waitForArrival(of: first)
        managers.transport.respond(first)
        try await recorder.landings(count: 1)
        let (call, rawData) = try #require(spy.succeeded.first)
        #expect(call.flight == first && (call.endpoint as? Filter)?.city == "first")
        #expect(rawData["flight"].int == Int(first.number) && manager.rawData == nil)
        #expect(spy.calls.allSatisfy { $0.flight == first })
    }

    @Test func hookThatLoadsReplacesTheLandingCall() async throws {
        let spy = Spy("manager", HookLog())
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        manager.interceptor = spy
        var hasLoaded = false
        spy.onHook = { name in
            guard name == "beforeSuccess", !hasLoaded else { return }
            hasLoaded = true
            manager.load(Filter(city: "second"))
        }
        let first = manager.load(Filter(city: "first"))
        try await managers.transport.waitForArrival(of: first)
        managers.transport.respond(first)
        try await managers.transport.wait { !$0.parked.isEmpty }
        managers.transport.respond(managers.transport.parked[0], with: .success(.json("{}")))
        try await recorder.landings(count: 1)
        #expect(recorder.landings.compactMap { ($0.endpoint as? Filter)?.city } == ["second"])
    }

    @Test func validatorChecksParametersAndResponses() async throws {
        let judge = Judge()
        let manager = APIManager<Filter>(on: managers.network, delegate: recorder)
        manager.validator = judge
        manager.load(Filter(city: "forbidden"))
        try await recorder.landings(count: 1)
        #expect(manager.error?.kind == .invalidParameters && manager.error?.detail == "Refused")
        let flight = manager.load(Filter(city: "a"))
        try await managers.transport.waitForArrival(of: flight)
        managers.transport.respond(flight.number, with: .success(.json(#"{"forged":true}"#)))
        try await recorder.landings(count: 2)
        #expect(
            manager.error?.kind == .invalidResponse && manager.error?.detail.hasPrefix("Refused; ") == true)
        #expect(manager.rawData == nil)
    }
}

@MainActor
private final class HookLog {
    var entries: [String] = []
}

@MainActor
private final class Spy: Interceptor {
    let name: String
    let log: HookLog
    var vetoes: Set<String> = []
    var change: ((inout any Endpoint) -> Void)?
    var onHook: ((String) -> Void)?
    /// The calls of all hooks, in order.
    var calls: [InterceptedCall] = []
    /// The calls that succeeded, and their responses.
    var succeeded: [(call: InterceptedCall, rawData: RawData)] = []

    init(_ name: String, _ log: HookLog) {
        self.name = name
        self.log = log
    }

    private func allows(_ hook: String, _ call: InterceptedCall? = nil) -> Bool {
        if let call { calls.append(call) }
        log.entries.append("\(name) \(hook)")
        onHook?(hook)
        return !vetoes.contains(hook)
    }

    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        change?(&endpoint)
        return allows("beforeCall")
    }
    func afterCall(_ call: InterceptedCall, by manager: (any APIManaging)?) { _ = allows("afterCall", call) }
    func beforeLanding(
        _ result: Result<RawData, NetworkError>, of call: InterceptedCall, by manager: (any APIManaging)?
    ) {
        _ = allows("beforeLanding", call)
    }
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        allows("beforeSuccess", call)
    }
    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
        succeeded.append((call, rawData))
        _ = allows("afterSuccess", call)
    }
    func beforeFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        allows("beforeFailure", call)
    }
    func afterFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) {
        _ = allows("afterFailure", call)
    }
}

/// A delegate that is the interceptor of its manager, too.
@MainActor
private final class InterceptingDelegate: APIManagerDelegate, Interceptor {
    var entries: [String] = []

    func apiManagerDidSucceed(_ manager: any APIManaging) { entries.append("success") }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { entries.append("failure") }
    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
        entries.append("afterSuccess")
    }
    func afterFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) {
        entries.append("afterFailure")
    }
}

@MainActor
private final class Judge: Validator {
    func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) throws {
        if (endpoint as? Filter)?.city == "forbidden" { throw Refused("That city is forbidden.") }
    }
    func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) throws {
        if rawData["forged"].bool == true { throw Refused("The response is forged.") }
    }
}
