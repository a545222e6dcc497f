import HTTPTypes
import Runway
import RunwayTesting
import Synchronization

/// An origin of ``Club`` whose refreshes wait until the test responds to them.
final class ParkedRefreshes: Transport {
    private struct State {
        var goodToken = "none"
        var refreshCount = 0
        var parked: CheckedContinuation<Response?, Never>?
    }

    /// Guards what is good and what waits.
    private let state = Mutex(State())

    var refreshCount: Int { state.withLock { $0.refreshCount } }
    /// Whether a refresh waits.
    var isParked: Bool { state.withLock { $0.parked != nil } }

    func accept(_ token: String) { state.withLock { $0.goodToken = token } }

    /// Responds to the waiting refresh.
    func respond(_ response: Response?) {
        let parked = state.withLock { state in
            defer { state.parked = nil }
            return state.parked
        }
        parked?.resume(returning: response)
    }

    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        guard request.head.path == "/token" else {
            let isGood = state.withLock { request.head.headerFields[.authorization] == "Bearer \($0.goodToken)" }
            return .json("{}", status: isGood ? .ok : .unauthorized)
        }
        let response = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.refreshCount += 1
                    if Task.isCancelled { return true }
                    state.parked = continuation
                    return false
                }
                if isOver { continuation.resume(returning: nil) }
            }
        } onCancel: {
            respond(nil)
        }
        guard let response else { throw NetworkError(.cancelled, in: .transporting, "gone") }
        return response
    }
}
