import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import RunwayZlib
import Synchronization

@testable import RunwayStorage

enum LogService: APIService {
    static let name = "log"
    static let environments: [ServiceEnvironment: String] = [.release: "https://log.example.com"]
    static let deadline = Duration.seconds(600)
}

/// A server that counts records as the format demands, and fails as a test scripts it.
final class LogServer: Transport {
    struct Batch: Sendable {
        var stream: String
        var number: Int
        var account: String?
        /// The date of the attempt, in milliseconds.
        var sent = 0
        var installation = ""
        var records: [JSONValue]
        var names: [String] { records.map { $0["name"].string ?? "" } }
    }

    /// What the server does with a request instead of storing it.
    enum Failure: Sendable {
        case status(Int, retryAfter: Int? = nil)
        /// It stores the batch when the test opens the gate.
        case held(ScriptedGate)
        /// It refuses every record when the test opens the gate.
        case refused(ScriptedGate)
        /// It stores the batch, and the response is lost.
        case lostResponse
        /// It responds with this text.
        case text(String)
        /// It stores all, and has a verdict for the first half alone.
        case half
        case error(NetworkError)
        /// It redirects the request to another place (303), which responds with 200 to everything.
        case redirect
    }

    private struct State {
        var batches: [Batch] = []
        var marks: [String: Int] = [:]
        var stored: [String: Int] = [:]
        var order: [String] = []
        var erasures: [String] = []
        var secrets: [String] = []
        var pace = ""
        var inFlight = 0
        var mostInFlight = 0
    }

    /// The path to which it redirects.
    private static let otherPlace = "/elsewhere"

    private static var redirect: Response {
        var response = Response.json("{}", status: .seeOther)
        response.head.headerFields[.location] = otherPlace
        return response
    }

    private let state = Mutex(State())
    private let fail: @Sendable (Batch, Int) -> Failure?

    /// - Parameter fail: Decides about a batch, of which so many came before.
    init(fail: @escaping @Sendable (Batch, Int) -> Failure? = { _, _ in nil }) { self.fail = fail }

    /// Every batch that came, in order.
    var batches: [Batch] { state.withLock { $0.batches } }
    /// The names of the records that are stored, in the order in which they came.
    var names: [String] { state.withLock { $0.order } }
    /// Whether every record is stored once.
    var countsOnce: Bool { state.withLock { $0.stored.values.allSatisfy { $0 == 1 } } }

    /// The most batches that were in flight at a time.
    var mostInFlight: Int { state.withLock { $0.mostInFlight } }

    /// The accounts that were erased, in order; an empty one for the records of nobody.
    var erasures: [String] { state.withLock { $0.erasures } }
    /// The secrets by which records of nobody were to be erased, in order.
    var secrets: [String] { state.withLock { $0.secrets } }
    /// The member `pace` of the responses from now on.
    func setPace(_ text: String) { state.withLock { $0.pace = text } }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        if request.head.path == Self.otherPlace { return .json("{}") }
        if request.head.method == .delete { return try erase(flight.account ?? "") }
        if request.head.path == "/log/erasure" { return try eraseRecordsOfNobody(request) }
        guard case .bytes(let bytes) = request.body, let json = try? JSONDocument(Gzip.decode(bytes)).root else {
            return .json("{}", status: .badRequest)
        }
        return try await respond(json)
    }

    private func erase(_ account: String) throws(NetworkError) -> Response {
        let batch = Batch(stream: "", number: 0, account: account, records: [])
        switch fail(batch, batches.count) {
        case .status(let code, _): return .json("{}", status: .init(code: code))
        case .redirect: return Self.redirect
        default: break
        }
        state.withLock { $0.erasures.append(account) }
        return .json("", status: .noContent)
    }

    private func eraseRecordsOfNobody(_ request: Request) throws(NetworkError) -> Response {
        guard case .bytes(let bytes) = request.body, let secret = (try? JSONDocument(bytes))?.root["secret"].string
        else { return .json("{}", status: .badRequest) }
        state.withLock { $0.secrets.append(secret) }
        return try erase("")
    }

    private func respond(_ json: JSONValue) async throws(NetworkError) -> Response {
        let batch = Batch(
            stream: json["stream"].string ?? "", number: json["batch"].int ?? 0, account: json["account"].string,
            sent: json["sent"].int ?? 0, installation: json["installation"].string ?? "",
            records: Array(json["records"].elements))
        let count = state.withLock { state in
            state.batches.append(batch)
            state.inFlight += 1
            state.mostInFlight = max(state.mostInFlight, state.inFlight)
            return state.batches.count - 1
        }
        defer { state.withLock { $0.inFlight -= 1 } }
        switch fail(batch, count) {
        case nil: return .json(store(batch))
        case .status(let code, let retryAfter):
            var response = Response.json("{}", status: .init(code: code))
            if let retryAfter { response.head.headerFields[.retryAfter] = "\(retryAfter)" }
            return response
        case .held(let gate):
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "cancelled") }
            return .json(store(batch))
        case .refused(let gate):
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "cancelled") }
            return .json(Self.response(to: batch, "refused"))
        case .text(let text): return .json(text)
        case .error(let error): throw error
        case .redirect: return Self.redirect
        case .half: return .json(store(batch, verdicts: batch.records.count / 2))
        case .lostResponse:
            _ = store(batch)
            throw NetworkError(.noNetwork, in: .transporting, "The connection was lost.", sending: .sent)
        }
    }

    private func store(_ batch: Batch, verdicts: Int = .max) -> String {
        state.withLock { state in
            if state.marks[batch.stream] ?? 0 < batch.number {
                state.marks[batch.stream] = batch.number
                for record in batch.records {
                    guard let id = record["id"].string, state.stored[id] == nil else { continue }
                    state.stored[id] = 1
                    state.order.append(record["name"].string ?? "")
                }
            }
            let pace = state.pace.isEmpty ? "" : #","pace":\#(state.pace)"#
            return Self.response(to: batch, "stored", count: verdicts, pace: pace)
        }
    }

    private static func response(
        to batch: Batch, _ verdict: String, count: Int = .max, pace: String = ""
    ) -> String {
        let records = batch.records.prefix(count).map {
            #"{"id":"\#($0["id"].string ?? "")","verdict":"\#(verdict)"}"#
        }
        let list = records.joined(separator: ",")
        return #"{"stream":"\#(batch.stream)","batch":\#(batch.number),"records":[\#(list)]\#(pace)}"#
    }
}

/// A condition that a test changes while others read it.
final class Flag: Sendable {
    private let value: Atomic<Bool>

    init(_ isOn: Bool) { value = Atomic(isOn) }

    var isOn: Bool {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}

/// Undoes gzip, for a server in a test.
enum Gzip {
    static func decode(_ bytes: [UInt8]) -> [UInt8] {
        guard let inflater = runway_inflater_create(15 + 16) else { return [] }
        defer { runway_inflater_destroy(inflater) }
        var (used, count) = (0, 0)
        var output = [UInt8](repeating: 0, count: 1 << 22)
        let status = runway_inflater_run(inflater, bytes, bytes.count, &used, &output, output.count, &count)
        return status == RUNWAY_INFLATE_ENDED ? Array(output.prefix(count)) : []
    }
}

/// A log, its server, and a clock that the test moves.
struct LogFixture {
    let folder: ScratchFolder
    let clock = ManualClock()
    let server: LogServer
    let network: NetworkLayer
    let status = SettableNetworkStatus(.wifi)

    /// - Parameters:
    ///   - source: What the layer knows of the network in place of ``status``.
    ///   - wall: Reads the date.
    init(
        _ server: LogServer = LogServer(), in folder: ScratchFolder = ScratchFolder(),
        source: (any NetworkStatusSource)? = nil, grace: (any BackgroundGrace)? = nil,
        wall: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.folder = folder
        self.server = server
        network = NetworkLayer(
            transport: server, pipeline: .tested, clock: LayerClock(clock, wall: wall),
            limits: LayerLimits(admission: .none, retrying: .none), status: source ?? status, grace: grace)
    }

    func open(_ change: (inout ActionLogOptions) -> Void = { _ in }) -> ActionLog {
        var options = ActionLogOptions()
        options.survivesPowerLoss = false
        options.gap = .zero
        change(&options)
        return ActionLog(at: folder.file, sendingTo: LogService.self, at: "log", over: network, options: options)
    }

    func signIn(_ account: String?) { network.configure(LogService.self) { $0.account = account } }

    /// Flushes until the server has so many records, advancing the clock past every wait.
    func drain(_ log: ActionLog, upTo count: Int) async throws {
        try await waitUntil("\(count) records at the server") {
            await log.flush()
            if server.names.count < count { clock.advance(by: .seconds(86_400 / 4)) }
            return server.names.count >= count
        }
    }
}
