import Runway
import RunwayTesting
import Synchronization

/// A transport whose requests wait until the test responds to them, and that records which flight carries each.
final class CarryingTransport: Transport {
    private struct State {
        var parked: [UInt64: Deferral] = [:]
        var flights: [UInt64: Flight] = [:]
        var sent: [UInt64] = []
        var requests: [Request] = []
        var cancelled: Set<UInt64> = []
    }

    private struct Deferral {
        let continuation: CheckedContinuation<Result<Response, NetworkError>, Never>
    }

    /// Guards the requests, by the number of the flight that carries each.
    private let state = Mutex(State())
    /// Whether a cancelled request ends; where not it goes on waiting, as a transport does that does not listen.
    let listens: Bool

    init(listens: Bool = true) { self.listens = listens }

    /// The flights whose requests wait.
    var parked: [UInt64] { state.withLock { $0.parked.keys.sorted() } }
    /// The flights whose requests came, in order.
    var sent: [UInt64] { state.withLock { $0.sent } }
    /// The requests that came, in order.
    var requests: [Request] { state.withLock { $0.requests } }
    /// The flights whose requests were cancelled.
    var cancelled: Set<UInt64> { state.withLock { $0.cancelled } }
    /// The flight of a request.
    func flight(_ number: UInt64) -> Flight? { state.withLock { $0.flights[number] } }

    func endsInTime(_ request: Request) -> Bool { listens }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let number = flight.id.number
        let result = await flight.withDeadlineHandler {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        state.sent.append(number)
                        state.requests.append(request)
                        state.flights[number] = flight
                        if listens, Task.isCancelled { return true }
                        state.parked[number] = Deferral(continuation: continuation)
                        return false
                    }
                    if isOver { continuation.resume(returning: .failure(Self.gone)) }
                }
            } onCancel: {
                let parked = state.withLock { state in
                    state.cancelled.insert(number)
                    return listens ? state.parked.removeValue(forKey: number) : nil
                }
                parked?.continuation.resume(returning: .failure(Self.gone))
            }
        } onDeadline: {
            if self.listens { self.respond(number, with: .failure(NetworkError(.timedOut, in: .transporting, "late"))) }
        }
        return try result.get()
    }

    /// Responds to a waiting request; returns `false` if there is none.
    @discardableResult
    func respond(_ number: UInt64, with result: Result<Response, NetworkError>) -> Bool {
        let parked = state.withLock { $0.parked.removeValue(forKey: number) }
        parked?.continuation.resume(returning: result)
        return parked != nil
    }

    /// Responds with a JSON object that contains the number of the flight.
    @discardableResult
    func respond(_ number: UInt64) -> Bool { respond(number, with: .success(.json(#"{"flight":\#(number)}"#))) }

    /// Waits until `condition` holds.
    func wait(
        fileID: String = #fileID, line: Int = #line, until condition: (CarryingTransport) -> Bool
    ) async throws {
        try await waitUntil(fileID: fileID, line: line) { condition(self) }
    }

    func waitForArrival(of number: UInt64, fileID: String = #fileID, line: Int = #line) async throws {
        try await wait(fileID: fileID, line: line) { $0.parked.contains(number) }
    }

    private static let gone = NetworkError(.cancelled, in: .transporting, "gone")
}
