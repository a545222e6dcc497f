import Foundation
import HTTPTypes
import RunwayFormats
import RunwayJSON
import RunwayTesting
import Synchronization

@testable import Runway

enum Notes: APIService {
    static let name = "notes"
    static let environments: [ServiceEnvironment: String] = [.release: "https://notes.example.com/v1"]
    static let commonHeaders = ["X-App": "notes 1.0"]
}

/// A change that waits while there is no network.
struct EditNote: Endpoint {
    static let service = Notes.self
    static let method = HTTPRequest.Method.put
    static let offline = OfflinePolicy.queued
    static let retry = RetryPolicy.off
    static let overlap = OverlapPolicy.concurrent
    var path: EndpointPath { "notes/\(id)" }
    var offlineSubjects: [String] { ["note \(id)"] }
    @Unencoded var id = 1
    @Unencoded var fields: [String: String] = [:]
    var headers: [String: String] { fields }
    var text = "new"
}

/// A change that is not stored.
struct OnlineEdit: Endpoint {
    static let service = Notes.self
    static let method = HTTPRequest.Method.put
    static let retry = RetryPolicy.off
    var path: EndpointPath { "notes/1" }
}

/// A queue in memory, that sends nothing by itself.
final class MemoryChangeQueue: ChangeQueue {
    struct Full: Error {}

    private struct State {
        var link: ChangeLink?
        var stored: [(change: UnsentChange, id: UUID, isSettled: Bool)] = []
        /// What was written ahead of calls that are in flight.
        var written: [UUID: UnsentChange] = [:]
        var isFull = false
        var serviceChanges = 0
        var settledCount = 0
    }

    private let state = Mutex(State())
    /// Holds a change before it is stored, until the test opens it.
    let gate: ScriptedGate?
    private let endpoint: any Endpoint.Type

    init(gate: ScriptedGate? = nil, accepting endpoint: any Endpoint.Type = EditNote.self) {
        (self.gate, self.endpoint) = (gate, endpoint)
    }

    var link: ChangeLink? { state.withLock { $0.link } }
    /// The changes whose calls have ended as queued.
    var waiting: [UnsentChange] { state.withLock { $0.stored.filter(\.isSettled).map(\.change) } }
    var storedCount: Int { state.withLock { $0.stored.count } }
    /// How many stored changes were settled, those among them that are removed.
    var settledCount: Int { state.withLock { $0.settledCount } }
    var serviceChanges: Int { state.withLock { $0.serviceChanges } }
    var written: [UnsentChange] { state.withLock { Array($0.written.values) } }
    func setFull() { state.withLock { $0.isFull = true } }

    func start(for network: NetworkLayer) { state.withLock { $0.link = network.changeLink } }
    func accepts(_ endpoint: any Endpoint.Type) -> Bool { endpoint == self.endpoint }
    func hasToWait(_ change: UnsentChange) async throws -> Bool {
        state.withLock { $0.stored.contains { $0.change.account == change.account } }
    }

    func writeAhead(_ change: UnsentChange) async throws -> UUID? {
        try state.withLock { state in
            if state.isFull { throw Full() }
            let id = UUID()
            state.written[id] = change
            return id
        }
    }

    func removeWritten(_ id: UUID) { state.withLock { _ = $0.written.removeValue(forKey: id) } }

    func store(_ change: UnsentChange) async throws -> QueuedChange {
        // In a task of its own, which is not cancelled with the call: a commit can't be taken back.
        if let gate { await Task { try? await gate.pass() }.value }
        return try state.withLock { state in
            if state.isFull { throw Full() }
            let id = change.id ?? UUID()
            state.written[id] = nil
            state.stored.append((change, id, false))
            return QueuedChange(change, id)
        }
    }

    func settle(_ id: UUID, isQueued: Bool) async {
        state.withLock { state in
            state.settledCount += 1
            for index in state.stored.indices where state.stored[index].id == id {
                state.stored[index].isSettled = true
            }
            if !isQueued { state.stored.removeAll { $0.id == id } }
        }
    }

    func servicesDidChange() { state.withLock { $0.serviceChanges += 1 } }

    /// Sends the first change that waits, and removes it.
    func replayFirst() async throws -> Result<RawData, NetworkError> {
        guard let link, let first = state.withLock({ $0.stored.first }) else { throw Full() }
        let result: Result<RawData, NetworkError>
        do throws(NetworkError) {
            result = .success(try await link.replay(first.change, first.id))
        } catch {
            result = .failure(error)
        }
        state.withLock { $0.stored.removeAll { $0.id == first.id } }
        await link.report(QueuedChange(first.change, first.id), result, true)
        return result
    }
}

extension QueuedChange {
    fileprivate init(_ change: UnsentChange, _ id: UUID) {
        self.init(
            id: id, service: "notes", environment: change.environment, account: change.account,
            endpoint: change.endpoint.name, parameters: RawData((try? change.parameters.json(dates: .iso8601)) ?? []),
            subjects: change.subjects, date: Date(timeIntervalSince1970: 0))
    }
}

/// A layer with a queue, whose server a test scripts.
struct QueueLayer {
    let queue: MemoryChangeQueue
    let transport: StubTransport
    let records = RecordCollector()
    let clock = ManualClock()
    let status = SettableNetworkStatus(.wifi)
    let network: NetworkLayer

    init(
        _ queue: MemoryChangeQueue = MemoryChangeQueue(), pipeline: RequestPipeline = RequestPipeline(),
        retrying: AttemptLimits = .none,
        respond: @escaping StubTransport.Respond = { _ in .json("{}") }
    ) {
        self.queue = queue
        transport = StubTransport(respond: respond)
        network = NetworkLayer(
            transport: transport, pipeline: pipeline, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: retrying), offlineQueue: queue, status: status)
    }

    func error(of endpoint: some Endpoint) async -> NetworkError? {
        do throws(NetworkError) {
            _ = try await network.call(endpoint)
            return nil
        } catch {
            return error
        }
    }

    func key(_ index: Int) -> String? {
        transport.requests[index].head.headerFields[.idempotencyKey]
    }
}

/// A delegate that records what it is notified of.
@MainActor
final class QueueDelegate: APIManagerDelegate {
    private(set) var events: [String] = []
    private let count = AwaitedValue(0)

    func apiManagerDidSucceed(_ manager: any APIManaging) { add("succeeded") }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { add("failed \(error.kind)") }
    func apiManager(_ manager: any APIManaging, didQueue change: QueuedChange) {
        add("queued \(change.parameters["text"].string ?? "")")
    }
    func apiManager(
        _ manager: any APIManaging, didReplay change: QueuedChange, with result: Result<RawData, NetworkError>
    ) {
        switch result {
        case .success: add("replayed")
        case .failure(let error): add("refused \(error.kind)")
        }
    }

    func events(count: Int) async throws -> [String] {
        try await self.count.wait(atLeast: count, within: .seconds(60), subject: "events")
        return events
    }

    private func add(_ event: String) {
        events.append(event)
        count.update { $0 = events.count }
    }
}
