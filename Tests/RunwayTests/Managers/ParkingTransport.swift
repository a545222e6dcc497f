import HTTPTypes
import Runway
import RunwayTesting
import Synchronization

/// A transport whose requests wait until the test completes them, in any order.
final class ParkingTransport: Transport {
    private struct State {
        var parked: [UInt64: CheckedContinuation<Result<Response, NetworkError>, Never>] = [:]
        var requests: [UInt64: Request] = [:]
        var cancelled: Set<UInt64> = []
    }

    /// Guards the requests that wait and those whose task was cancelled.
    private let state = Mutex(State())
    /// Whether a cancelled request goes on waiting.
    let ignoresCancellation: Bool

    init(ignoresCancellation: Bool = false) { self.ignoresCancellation = ignoresCancellation }

    /// The flights that wait, by their numbers.
    var parked: [UInt64] { state.withLock { $0.parked.keys.sorted() } }
    /// The request that came last of a flight.
    func request(of id: UInt64) -> Request? { state.withLock { $0.requests[id] } }
    /// The flights whose task was cancelled.
    var cancelled: Set<UInt64> { state.withLock { $0.cancelled } }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let id = flight.id.number
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !ignoresCancellation, state.cancelled.contains(id) { return true }
                    state.parked[id] = continuation
                    state.requests[id] = request
                    return false
                }
                if isOver {
                    continuation.resume(returning: .failure(NetworkError(.cancelled, in: .transporting, "gone")))
                }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled.insert(id)
                return ignoresCancellation ? nil : state.parked.removeValue(forKey: id)
            }
            continuation?.resume(returning: .failure(NetworkError(.cancelled, in: .transporting, "gone")))
        }
        return try result.get()
    }

    /// Completes a request that waits; returns `false` if it does not wait.
    @discardableResult
    func respond(_ id: UInt64, with result: Result<Response, NetworkError>) -> Bool {
        let continuation = state.withLock { $0.parked.removeValue(forKey: id) }
        continuation?.resume(returning: result)
        return continuation != nil
    }

    /// Responds with a JSON object that contains the number of the flight.
    @discardableResult
    func respond(_ id: FlightID) -> Bool { respond(id.number, with: .success(.json(#"{"flight":\#(id.number)}"#))) }

    /// Waits until `condition` holds.
    func wait(
        fileID: String = #fileID, line: Int = #line, until condition: (ParkingTransport) -> Bool
    ) async throws {
        try await waitUntil(fileID: fileID, line: line) { condition(self) }
    }

    func waitForArrival(of flight: FlightID, fileID: String = #fileID, line: Int = #line) async throws {
        try await wait(fileID: fileID, line: line) { $0.parked.contains(flight.number) }
    }
}
