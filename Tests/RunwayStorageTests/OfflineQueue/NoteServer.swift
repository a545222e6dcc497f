import Foundation
import GRDB
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization

@testable import RunwayStorage

enum Notebook: APIService {
    static let name = "notebook"
    static let environments: [ServiceEnvironment: String] = [.release: "https://notes.example.com/v1"]
    static let credentials: (any Credentials)? = NotebookCredentials()
    static let authorization = AuthorizationPolicy.ifSignedIn
    static let deadline = Duration.seconds(600)
}

private struct NotebookCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
}

/// A change of a note.
struct WriteNote: Endpoint {
    static let service = Notebook.self
    static let method = HTTPRequest.Method.post
    static let offline = OfflinePolicy.queued
    static let retry = RetryPolicy.off
    static let overlap = OverlapPolicy.concurrent
    var path: EndpointPath { "notes" }
    var offlineSubjects: [String] { subjects }
    var invalidates: [CacheInvalidation] { [.endpoint(NoteTexts.self)] }
    @Unencoded var subjects: [String] = []
    var text: String

    init(_ text: String, _ subjects: String...) {
        self.text = text
        self.subjects = subjects
    }
}

/// The texts of all notes, which are cached.
struct NoteTexts: Endpoint {
    static let service = Notebook.self
    static let cache = CachePolicy.untilEvicted()
    var path: EndpointPath { "notes" }
}

/// A server that recognises requests by their idempotency keys, and fails as a test scripts it.
final class NoteServer: Transport {
    struct Received: Sendable {
        var key: String
        var account: String?
        var text: String
        var hasToken: Bool
    }

    /// What the server does in place of taking the change.
    enum Failure: Sendable {
        case status(Int, retryAfter: Int? = nil)
        /// It takes the change, and the response is lost.
        case lostResponse
        /// It takes the change, and a proxy responds with this status in its place.
        case taken(Int)
        /// The request does not reach it.
        case unreachable
        /// It takes the change when the test opens the gate.
        case held(ScriptedGate)
        /// It responds with this problem with an idempotency key, or with a stored failure.
        case response(Int, type: String = "", isReplayed: Bool = false)
        /// It takes the change, and redirects by a status to what it responds to with another one.
        case redirected(Int, to: Int)
    }

    private struct State {
        var received: [Received] = []
        var bodies: [String: String] = [:]
        var effects: [Received] = []
    }

    private let state = Mutex(State())
    private let fail: @Sendable (Received, Int) -> Failure?

    /// - Parameter fail: Decides about a request, of which so many came before.
    init(fail: @escaping @Sendable (Received, Int) -> Failure? = { _, _ in nil }) { self.fail = fail }

    var received: [Received] { state.withLock { $0.received } }
    var effects: [Received] { state.withLock { $0.effects } }
    /// What took effect, in order.
    var texts: [String] { effects.map(\.text) }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        if request.head.method == .get {
            if let code = request.head.path?.split(separator: "/").last.flatMap({ Int($0) }) {
                return .json("{}", status: .init(code: code))
            }
            return .json("[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]")
        }
        let body = if case .bytes(let bytes) = request.body { RawData(bytes) } else { RawData([]) }
        let fields = request.head.headerFields
        let item = Received(
            key: HTTPField.Name("Idempotency-Key").flatMap { fields[$0] } ?? "", account: flight.account,
            text: body["text"].string ?? "", hasToken: fields[.authorization] != nil)
        let failure = fail(item, received.count)
        if case .unreachable = failure {
            throw NetworkError(.noNetwork, in: .transporting, "unreachable", sending: .notSent)
        }
        state.withLock { $0.received.append(item) }
        switch failure {
        case .status(let code, let retryAfter):
            var response = Response.json("{}", status: .init(code: code))
            if let retryAfter { response.head.headerFields[.retryAfter] = "\(retryAfter)" }
            return response
        case .lostResponse:
            _ = take(item)
            throw NetworkError(.noNetwork, in: .transporting, "lost", sending: .sent)
        case .taken(let code):
            _ = take(item)
            return .json("{}", status: .init(code: code))
        case .held(let gate):
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "cancelled") }
        case .response(let code, let type, let isReplayed):
            var head = HTTPResponse(status: .init(code: code))
            head.headerFields[.contentType] = "application/problem+json"
            if let name = HTTPField.Name("Idempotency-Replayed"), isReplayed { head.headerFields[name] = "true" }
            let bytes = Array(#"{"type":"\#(type)"}"#.utf8)
            return Response(head: head, body: .whole(RawData(bytes, response: head)))
        case .redirected(let code, let next):
            _ = take(item)
            var response = Response.json("", status: .init(code: code))
            response.head.headerFields[.location] = "/v1/results/\(next)"
            return response
        case .unreachable, nil: break
        }
        return take(item)
    }

    /// Takes a change whose key is new, and responds to another as to the first.
    private func take(_ item: Received) -> Response {
        state.withLock { state in
            if item.key.isEmpty { return .json("{}", status: .badRequest) }
            if let body = state.bodies[item.key], body != item.text {
                return .json("{}", status: .unprocessableContent)
            }
            if state.bodies.updateValue(item.text, forKey: item.key) == nil { state.effects.append(item) }
            return .json(#"{"text":"\#(item.text)"}"#)
        }
    }
}

/// What the app was notified of, by text.
final class Results: Sendable {
    private let results = Mutex<[String]>([])

    var all: [String] { results.withLock { $0 } }

    func add(_ change: QueuedChange, _ result: Result<RawData, NetworkError>) {
        let text = change.parameters["text"].string ?? ""
        let outcome = if case .success = result { "done" } else { "\(change.state)" }
        results.withLock { $0.append("\(text) \(outcome)") }
    }
}

/// A queue, its layer and its server, in one run of an app.
struct QueueFixture {
    let folder: ScratchFolder
    let clock: ManualClock
    let server: NoteServer
    let results = Results()
    let status: SettableNetworkStatus
    let queue: OfflineQueue
    let network: NetworkLayer

    init(
        _ server: NoteServer = NoteServer(), in folder: ScratchFolder = ScratchFolder(),
        clock: ManualClock = ManualClock(), status: NetworkStatus = .wifi,
        grace: (any BackgroundGrace)? = nil, _ change: (inout OfflineQueueOptions) -> Void = { _ in },
        wall: @escaping @Sendable () -> Date = { Date() }, onResult: @escaping @Sendable () async -> Void = {}
    ) {
        var options = OfflineQueueOptions()
        options.survivesPowerLoss = false
        options.gap = .zero
        change(&options)
        self.folder = folder
        self.clock = clock
        self.server = server
        self.status = SettableNetworkStatus(status)
        let results = results
        let endpoint = ReplayedEndpoint(WriteNote.self) {
            results.add($0, $1)
            await onResult()
        }
        queue = OfflineQueue(at: folder.file, replaying: [endpoint], options: options)
        network = NetworkLayer(
            transport: server, pipeline: .tested, clock: LayerClock(clock, wall: wall),
            limits: LayerLimits(admission: .none, retrying: .none), offlineQueue: queue, status: self.status,
            grace: grace)
    }

    /// Makes a call, and returns the kind of its error; `nil` if it succeeded.
    @discardableResult
    func write(_ text: String, _ subjects: String...) async -> NetworkError? {
        var endpoint = WriteNote(text)
        endpoint.subjects = subjects
        do throws(NetworkError) {
            _ = try await network.call(endpoint)
            return nil
        } catch {
            return error
        }
    }

    func signIn(_ account: String) async throws {
        try await network.signIn(AccessToken("token-of-\(account)", account: account), to: Notebook.self)
    }

    /// Changes the file by SQL. A trigger with ``failure`` has what it precedes fail as SQLITE_TOOBIG, which does not count as damage.
    func execute(_ sql: String) async throws {
        try await queue.parts().journal.run { file throws(StorageError) in
            try file.write { try $0.execute(sql: sql) }
        }
    }

    static let failure = "BEGIN SELECT zeroblob(2147483647); END"

    /// Sends what waits, advancing the clock past every wait.
    func drain(until count: Int = 0) async throws {
        try await waitUntil("at most \(count) changes to wait") {
            await queue.flush()
            let state = queue.currentState
            if state.waitingCount > count { clock.advance(by: .seconds(86_400 / 4)) }
            return state.waitingCount <= count && !state.isSending
        }
    }

    func states() async throws -> [String] {
        try await queue.changes().map { "\($0.parameters["text"].string ?? "") \($0.state)" }
    }
}
