import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A transport whose requests wait, each by the order in which it came, until the test says what becomes of them.
final class ContestTransport: Transport {
    private struct State {
        var requests: [(request: Request, flight: Flight)] = []
        var parked: [Int: CheckedContinuation<Result<Response, NetworkError>, Never>] = [:]
        /// What became of requests that came and do not wait yet.
        var early: [Int: Result<Response, NetworkError>] = [:]
        var cancelled: Set<Int> = []
    }

    /// Guards the requests that came, those that wait and those whose task was cancelled.
    private let state = Mutex(State())
    private let ignoresCancellation: Bool

    /// - Parameter ignoresCancellation: Whether a cancelled request goes on waiting. The default is `false`.
    init(ignoresCancellation: Bool = false) { self.ignoresCancellation = ignoresCancellation }

    var count: Int { state.withLock { $0.requests.count } }
    var cancelled: Set<Int> { state.withLock { $0.cancelled } }
    /// The requests that wait.
    var parked: [Int] { state.withLock { $0.parked.keys.sorted() } }

    func request(_ index: Int) -> Request { state.withLock { $0.requests[index].request } }

    func flight(_ index: Int) -> Flight { state.withLock { $0.requests[index].flight } }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let index = state.withLock { state in
            state.requests.append((request, flight))
            return state.requests.count - 1
        }
        let cancellation = Result<Response, NetworkError>.failure(
            NetworkError(.cancelled, in: .transporting, "cancelled on the wire"))
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let end: Result<Response, NetworkError>? = state.withLock { state in
                    if let early = state.early.removeValue(forKey: index) { return early }
                    if !ignoresCancellation, state.cancelled.contains(index) { return cancellation }
                    state.parked[index] = continuation
                    return nil
                }
                if let end { continuation.resume(returning: end) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled.insert(index)
                return ignoresCancellation ? nil : state.parked.removeValue(forKey: index)
            }
            continuation?.resume(returning: cancellation)
        }
        return try result.get()
    }

    /// Reports the head of a response, as a transport does for long responses.
    func head(of index: Int, _ status: HTTPResponse.Status = .ok) { request(index).noteHead(status) }

    /// Ends a request, or what is left of it where its task was cancelled: then nothing comes of it.
    func end(_ index: Int, with result: Result<Response, NetworkError>) {
        let continuation = state.withLock { state in
            let parked = state.parked.removeValue(forKey: index)
            if parked == nil { state.early[index] = result }
            return parked
        }
        continuation?.resume(returning: result)
    }

    /// Responds with the number of the request.
    func respond(_ index: Int, _ status: HTTPResponse.Status = .ok) {
        end(index, with: .success(.json("\(index)", status: status)))
    }

    func fail(_ index: Int, _ kind: NetworkError.Kind = .noNetwork) {
        end(index, with: .failure(NetworkError(kind, in: .transporting, "gone \(index)")))
    }

    /// Waits until `condition` holds.
    func wait(
        fileID: String = #fileID, line: Int = #line, until condition: (ContestTransport) -> Bool
    ) async throws {
        try await waitUntil(fileID: fileID, line: line) { condition(self) }
    }
}

/// A layer over a ``ContestTransport``, whose clock the test moves.
struct ContestLayer {
    let transport: ContestTransport
    let clock = ManualClock()
    let records = RecordCollector()
    let network: NetworkLayer

    init(
        ignoresCancellation: Bool = false, limits: AttemptLimits = .hedging,
        status: any NetworkStatusSource = SettableNetworkStatus()
    ) {
        transport = ContestTransport(ignoresCancellation: ignoresCancellation)
        network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, hedging: limits), status: status,
            randomness: SeededGenerator(seed: 1))
    }

    /// Begins a call, and waits until its first request is on the wire.
    func begin<E: Endpoint>(_ endpoint: E) async throws -> Task<RawData, any Error> {
        let count = transport.count
        let call = Task { try await network.call(endpoint) }
        try await transport.wait { $0.count > count }
        return call
    }

    /// Begins a call, and lets the delay pass until its second request is on the wire.
    func beginHedged<E: Endpoint>(_ endpoint: E) async throws -> Task<RawData, any Error> {
        let call = try await begin(endpoint)
        let count = transport.count
        clock.advance(by: SlowRead.delay)
        try await transport.wait { $0.count > count }
        return call
    }

    /// Waits until the layer's timer sleeps until an instant, counted from when the clock was made: no alarm before it is left.
    func waitForAlarm(at instant: Duration, fileID: String = #fileID, line: Int = #line) async throws {
        try await waitUntil("an alarm at \(instant)", fileID: fileID, line: line) {
            clock.nextDeadline?.offset == instant
        }
    }

    func record() async throws -> FlightRecord {
        await network.flushRecords()
        return try #require(records.records.last)
    }

    func hedges() async throws -> [HedgeDecision] { try await record().decisions(of: HedgeDecision.self) }
}

/// A read that is hedged after a tenth of a second.
struct SlowRead: Endpoint {
    static let service = Library.self
    static let delay = Duration.milliseconds(100)
    static let hedging = HedgingPolicy.after(delay)
    static let retry = RetryPolicy.off
    var path: EndpointPath { "slow" }
    var number = 0
}
