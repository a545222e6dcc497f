import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// The hooks of an endpoint before success and failure, beside those of interceptors.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct EndpointHookTests {
    private let layer = StubbedLayer { request in
        request.head.path?.contains("missing") == true ? .json("{}", status: .notFound) : .json(#"{"n":1}"#)
    }
    private let recorder = LandingRecorder()
    private let log = HookLog()

    private func greeting(_ name: String = "a", vetoes: Bool = false) -> Greeting {
        Greeting(log: log, vetoes: vetoes, name: name)
    }

    @Test func aManagerCallsThemOnceForEachLanding() async throws {
        let manager = APIManager<Greeting>(on: layer.network, delegate: recorder)
        manager.load(greeting())
        try await recorder.landings(count: 1)
        #expect(log.entries == ["success"])
        manager.load(greeting("missing"))
        try await recorder.landings(count: 2)
        #expect(log.entries == ["success", "failure 404"])
    }

    @Test func theyComeBeforeThoseOfInterceptors() async throws {
        let interceptor = LoggingInterceptor(log)
        layer.network.add(interceptor)
        let manager = APIManager<Greeting>(on: layer.network, delegate: recorder)
        for name in ["a", "missing"] {
            manager.load(greeting(name))
            try await recorder.landings(count: name == "a" ? 1 : 2)
            _ = try? await layer.network.call(greeting(name))
        }
        let (success, failure) = (["success", "interceptor"], ["failure 404", "interceptor"])
        #expect(log.entries == success + success + failure + failure)
    }

    @Test func aPagedManagerCallsThemForEachPage() async {
        let play = PagedPlay(EditedList(count: 12), HookedList.self)
        await play.first(HookedList(log: log))
        await play.next()
        #expect(log.entries == ["success", "success"] && play.ids == Array(1...9))
        play.list.state.withLock { $0.beforeResponse = { _ in NetworkError(.noNetwork, in: .transporting, "gone") } }
        await play.next()
        #expect(log.entries == ["success", "success", "failure"])
    }

    @Test func aVetoEndsAPagedLoad() async {
        let play = PagedPlay(EditedList(count: 12), HookedList.self)
        await #expect(throws: NetworkError.self) {
            try await play.manager.landing(of: HookedList(log: log, vetoes: true))
        }
        #expect(log.entries == ["success"] && play.landings.isEmpty)
        #expect(play.manager.items.isEmpty && !play.manager.isLoading)
    }

    @Test(arguments: ["a", "missing"]) func aVetoKeepsAResultFromLanding(name: String) async throws {
        let manager = APIManager<Greeting>(on: layer.network, delegate: recorder)
        let interceptor = LoggingInterceptor(log)
        manager.interceptor = interceptor
        let flight = manager.load(greeting(name, vetoes: true))
        await #expect(throws: NetworkError.self) { try await manager.landing(of: flight) }
        #expect(recorder.landings.isEmpty && manager.rawData == nil && manager.error == nil && !manager.isLoading)
        #expect(log.entries == [name == "a" ? "success" : "failure 404"], "no interceptor is asked any more")
        let record = try await layer.record()
        #expect(record.outcome.kind == .vetoed)
        #expect(record.decisions(of: CallDecision.self) == [name == "a" ? .vetoedSuccess : .vetoedFailure])
    }

    @Test(arguments: ["a", "missing"], [false, true])
    func aVetoedCallWithoutAManagerIsCancelled(name: String, hasInterceptor: Bool) async throws {
        let interceptor = LoggingInterceptor(log)
        if hasInterceptor { layer.network.add(interceptor) }
        let error = try await layer.failure(of: greeting(name, vetoes: true))
        #expect(error.kind == .cancelled && error.detail.contains("The endpoint vetoed"))
        #expect(try await layer.record().outcome.kind == .vetoed)
        #expect(log.entries.count == 1)
    }

    @Test func unmanagedCallsStreamsAndTransfersPassThem() async throws {
        _ = try await layer.network.call(greeting())
        _ = try await layer.network.stream(greeting())
        _ = try await layer.network.upload(greeting())
        let folder = try TestFolder()
        _ = try await layer.network.download(greeting(), to: folder.file())
        #expect(log.entries == Array(repeating: "success", count: 4))
        _ = try await layer.failure(of: greeting("missing"))
        #expect(log.entries.last == "failure 404")
    }

    @Test func aCancelledCallAndAPrefetchPassNone() async throws {
        let task = Task { [layer, greeting = greeting()] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await layer.network.call(greeting)
        }
        await #expect(throws: NetworkError.self) { try await task.value }
        layer.network.prefetch(greeting())
        _ = try await layer.records.records(count: 2)
        let interceptor = LoggingInterceptor(log)
        layer.network.add(interceptor)
        layer.network.prefetch(greeting("b"))
        _ = try await layer.records.records(count: 3)
        #expect(log.entries == ["interceptor"])
    }

    @Test func theySeeTheParametersThatWereSent() async throws {
        _ = try await layer.network.call(greeting("completed"))
        #expect(log.entries == ["success"] && log.names == ["completed!"])
    }
}

/// Which hooks were called, in order.
private final class HookLog: Sendable {
    /// Guards the entries.
    private let state = Mutex<(entries: [String], names: [String])>(([], []))

    var entries: [String] { state.withLock { $0.entries } }
    var names: [String] { state.withLock { $0.names } }

    func add(_ entry: String, of name: String? = nil) {
        state.withLock { state in
            state.entries.append(entry)
            if let name { state.names.append(name) }
        }
    }
}

private struct Greeting: Endpoint {
    static let service = Estates.self
    static let cache = CachePolicy.timeToLive(.zero, diskLifetime: .seconds(1))
    static let retry = RetryPolicy.off
    @Unencoded var log: HookLog
    @Unencoded var vetoes: Bool
    @Unencoded var name: String
    var path: EndpointPath { "greetings/\(name)" }

    mutating func complete() { if name == "completed" { name += "!" } }

    func beforeSuccess(_ rawData: RawData) -> Bool {
        log.add("success", of: name)
        return !vetoes
    }
    func beforeFailure(_ error: NetworkError) -> Bool {
        log.add("failure \(error.status?.code ?? 0)", of: name)
        return !vetoes
    }
}

private struct HookedList: PagedEndpoint {
    static let service = Estates.self
    static let paging = PageStyle.offset
    static var pageSize: Int { 5 }
    @Unencoded var log: HookLog
    @Unencoded var vetoes = false
    var path: EndpointPath { "list" }
    var offset = 0
    var size = 0

    mutating func ask(for page: PageRequest) { (offset, size) = (page.offset, page.size) }
    func read(_ rawData: RawData) throws -> PageContent { try PageContent(rows: rawData["data"]["list"], id: "id") }

    func beforeSuccess(_ rawData: RawData) -> Bool {
        log.add("success")
        return !vetoes
    }
    func beforeFailure(_ error: NetworkError) -> Bool {
        log.add("failure")
        return true
    }
}

@MainActor
private final class LoggingInterceptor: Interceptor {
    private let log: HookLog

    init(_ log: HookLog) { self.log = log }

    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        log.add("interceptor")
        return true
    }
    func beforeFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        log.add("interceptor")
        return true
    }
}
