import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Interceptors for every call of a layer.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct NetworkInterceptorTests {
    private let layer = StubbedLayer { request in
        request.head.path?.contains("missing") == true ? .json("{}", status: .notFound) : .json(#"{"n":1}"#)
    }
    private let witness = Witness()
    private let recorder = LandingRecorder()

    init() { layer.network.add(witness) }

    private static let success = ["beforeCall", "afterCall", "beforeLanding", "beforeSuccess", "afterSuccess"]
    private static let failure = ["beforeCall", "afterCall", "beforeLanding", "beforeFailure", "afterFailure"]

    @Test func aCallPassesTheHooksOfItsSuccess() async throws {
        let rawData = try await layer.network.call(Reading())
        #expect(witness.hooks == Self.success && witness.managers.allSatisfy { $0 == nil })
        #expect(witness.bodies == [rawData.bytes])
        let record = try await layer.record()
        #expect(Set(witness.calls.map(\.flight)) == [record.id] && record.outcome.kind == .succeeded)
    }

    @Test func aCallPassesTheHooksOfItsFailure() async throws {
        let error = try await layer.failure(of: Reading(name: "missing"))
        #expect(error.status == .notFound && witness.hooks == Self.failure)
        #expect(witness.errors.map(\.status) == [.notFound])
    }

    @Test func aManagerPassesTheSameHooks() async throws {
        let manager = APIManager<Reading>(on: layer.network, delegate: recorder)
        manager.load(Reading())
        try await recorder.landings(count: 1)
        try await waitUntil { witness.hooks.count == 5 }
        #expect(witness.hooks == Self.success && witness.managers.allSatisfy { $0 === manager })
    }

    @Test func transfersStreamsAndPrefetchesPassTheSameHooks() async throws {
        let folder = try TestFolder()
        let file = folder.file()
        _ = try await layer.network.download(Reading(), to: file)
        #expect(witness.hooks == Self.success && witness.files == [file])
        witness.hooks = []
        _ = try await layer.network.upload(Reading())
        #expect(witness.hooks == Self.success)
        witness.hooks = []
        let stream = try await layer.network.stream(Reading())
        #expect(witness.hooks == Self.success && witness.bodies.last == [])
        #expect(try await stream.body.collect(upTo: 100) == Array(#"{"n":1}"#.utf8))
        witness.hooks = []
        let prefetch = layer.network.prefetch(Reading(name: "ahead"))
        _ = try await layer.records.records(count: 4)
        #expect(witness.hooks == Self.success && witness.calls.last?.flight == prefetch)
        _ = try await layer.network.call(Reading(name: "ahead"))
        #expect(layer.transport.requests.count == 4)
    }

    @Test func thoseForAllCallsComeFirst() async throws {
        let log = Witness.Log()
        let (all, second, own, single) = (
            Witness("all", log), Witness("second", log), Witness("endpoint", log), Witness("manager", log)
        )
        layer.network.add(own, for: Reading.self)
        layer.network.add(all)
        layer.network.add(second)
        let manager = APIManager<Reading>(on: layer.network, delegate: recorder)
        manager.interceptor = single
        manager.load(Reading())
        #expect(log.entries.prefix(4) == ["all", "second", "endpoint", "manager"])
        try await recorder.landings(count: 1)
        log.entries = []
        _ = try await layer.network.call(Reading(name: "other"))
        #expect(log.entries.prefix(3) == ["all", "second", "endpoint"])
        log.entries = []
        _ = try await layer.network.call(Writing())
        #expect(log.entries.prefix(3) == ["all", "second", "all"])
    }

    @Test(arguments: ["beforeCall", "beforeSuccess"]) func aVetoEndsACall(hook: String) async throws {
        witness.vetoes = [hook]
        let error = try await layer.failure(of: Reading())
        #expect(error.kind == .cancelled && error.detail.contains("vetoed") && witness.hooks.last == hook)
        let record = try await layer.record()
        #expect(record.outcome.kind == .vetoed && record.decisions.contains { $0.name == "vetoed" })
        #expect(layer.transport.requests.isEmpty == (hook == "beforeCall"))
    }

    @Test func aVetoOfAFailureEndsACall() async throws {
        witness.vetoes = ["beforeFailure"]
        #expect(try await layer.failure(of: Reading(name: "missing")).kind == .cancelled)
        #expect(try await layer.record().outcome.kind == .vetoed && witness.hooks.last == "beforeFailure")
    }

    @Test func aVetoedPrefetchSendsNothing() async throws {
        witness.vetoes = ["beforeCall"]
        layer.network.prefetch(Reading())
        #expect(try await layer.records.records(count: 1)[0].outcome.kind == .vetoed)
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func changedEndpointIsWhatIsSentAndChecked() async throws {
        witness.change = { $0 = Reading(name: "changed") }
        // What the caller passed is invalid.
        _ = try await layer.network.call(Reading(name: "invalid"))
        layer.network.prefetch(Reading(name: "invalid"))
        _ = try await layer.records.records(count: 2)
        #expect(layer.transport.requests.map(\.head.path) == ["/v1/readings/changed"])
        #expect(witness.calls.allSatisfy { ($0.endpoint as? Reading)?.name == "changed" })
    }

    @Test func anEndpointOfAnotherTypeFailsTheCall() async throws {
        witness.change = { $0 = Writing() }
        #expect(try await layer.failure(of: Reading()).kind == .invalidParameters)
        #expect(witness.hooks == ["beforeCall", "beforeFailure", "afterFailure"])
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func handedOverRequestPassesItsStartsHooks() async throws {
        witness.change = { $0 = Reading(name: "changed") }
        let request = try await layer.network.requestToHandOver(Reading(name: "invalid"), options: .standard)
        #expect(request.head.path == "/v1/readings/changed" && witness.hooks == ["beforeCall", "afterCall"])
        (witness.hooks, witness.vetoes) = ([], ["beforeCall"])
        let error = await #expect(throws: NetworkError.self) {
            try await layer.network.requestToHandOver(Reading(), options: .standard)
        }
        #expect(error?.kind == .cancelled && witness.hooks == ["beforeCall"])
        let records = try await layer.records.records(count: 2)
        #expect(records.map(\.outcome.kind) == [.succeeded, .vetoed])
    }

    @Test func aCancelledCallPassesNoFurtherHook() async throws {
        let gate = ScriptedGate()
        let layer = StubbedLayer { _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "gone") }
            return .json("{}")
        }
        layer.network.add(witness)
        let call = Task { try await layer.network.call(Reading()) }
        try await waitUntil { layer.transport.requests.count == 1 }
        call.cancel()
        #expect(try await call.failure().kind == .cancelled)
        #expect(witness.hooks == ["beforeCall", "afterCall"])
    }

    @Test func aRemovedInterceptorSeesNothingFurther() async throws {
        witness.onHook = { [layer, witness] hook in
            if hook == "afterCall" { layer.network.remove(witness) }
        }
        _ = try await layer.network.call(Reading())
        _ = try await layer.network.call(Reading(name: "other"))
        #expect(witness.hooks == ["beforeCall", "afterCall"])
    }

    @Test func thousandsOfInterceptorsAreCalledAndReleased() async throws {
        let log = Witness.Log()
        var crowd = (0..<3000).map { Witness("\($0)", log) }
        for member in crowd { layer.network.add(member) }
        _ = try await layer.network.call(Reading())
        #expect(log.entries.prefix(3000).elementsEqual((0..<3000).map { "\($0)" }))
        #expect(log.entries.count == 5 * 3000)
        log.entries = []
        crowd = []
        for _ in 0..<10_000 { layer.network.add(Witness("released", log)) }
        #expect(layer.network.interceptors.count <= 4 * 3000 + 16)
        _ = try await layer.network.call(Reading(name: "other"))
        #expect(log.entries.isEmpty && witness.hooks.count == 10)
    }

    @Test func hooksReceiveThePagedManager() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        play.manager.network.add(witness)
        await play.first(OffsetList())
        #expect(witness.hooks == Self.success && witness.managers.allSatisfy { $0 === play.manager })
    }

    @Test func hookCancelsALoadByItsRequestNumber() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        play.manager.network.add(witness)
        witness.onHook = { [witness, manager = play.manager] hook in
            if hook == "beforeLanding", let call = witness.calls.last { manager.cancel(call.flight) }
        }
        let load = play.manager.load(OffsetList())
        let error = await #expect(throws: NetworkError.self) { try await play.manager.landing(of: load) }
        #expect(error?.kind == .cancelled && !play.manager.isLoading && play.manager.items.isEmpty)
        #expect(witness.hooks.last == "beforeLanding")
    }
}

/// Writes down which hooks were called.
@MainActor
private final class Witness: Interceptor {
    /// The names of several, in the order of their hooks.
    @MainActor final class Log { var entries: [String] = [] }

    let name: String
    let log: Log
    var vetoes: Set<String> = []
    var change: ((inout any Endpoint) -> Void)?
    var onHook: ((String) -> Void)?
    var hooks: [String] = []
    var calls: [InterceptedCall] = []
    var managers: [(any APIManaging)?] = []
    var bodies: [[UInt8]] = []
    var files: [URL] = []
    var errors: [NetworkError] = []

    init(_ name: String = "", _ log: Log = Log()) { (self.name, self.log) = (name, log) }

    private func isAllowed(_ hook: String, _ manager: (any APIManaging)?, _ call: InterceptedCall? = nil) -> Bool {
        hooks.append(hook)
        log.entries.append(name)
        managers.append(manager)
        if let call { calls.append(call) }
        onHook?(hook)
        return !vetoes.contains(hook)
    }

    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        change?(&endpoint)
        return isAllowed("beforeCall", manager)
    }
    func afterCall(_ call: InterceptedCall, by manager: (any APIManaging)?) {
        _ = isAllowed("afterCall", manager, call)
    }
    func beforeLanding(
        _ result: Result<RawData, NetworkError>, of call: InterceptedCall, by manager: (any APIManaging)?
    ) {
        _ = isAllowed("beforeLanding", manager, call)
    }
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        bodies.append(rawData.bytes)
        if let file = rawData.file { files.append(file.url) }
        return isAllowed("beforeSuccess", manager, call)
    }
    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
        _ = isAllowed("afterSuccess", manager, call)
    }
    func beforeFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        errors.append(error)
        return isAllowed("beforeFailure", manager, call)
    }
    func afterFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) {
        _ = isAllowed("afterFailure", manager, call)
    }
}

private struct Reading: Endpoint {
    static let service = Estates.self
    static let cache = CachePolicy.timeToLive(.seconds(100))
    @Unencoded var name = "a"
    var path: EndpointPath { "readings/\(name)" }
    func validate() throws {
        if name == "invalid" { throw Refused("The name is invalid.") }
    }
}

private struct Writing: Endpoint {
    static let service = Estates.self
    static let method = HTTPRequest.Method.post
    var path: EndpointPath { "writings" }
}
