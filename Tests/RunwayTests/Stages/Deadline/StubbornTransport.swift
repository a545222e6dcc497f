import HTTPTypes
import Runway
import RunwayTesting
import Synchronization

/// A transport that waits at a gate whatever becomes of its task, as a badly written one would.
final class StubbornTransport: Transport {
    /// Where every request waits.
    let gate = ScriptedGate()
    /// Opened when the first task of a request was cancelled.
    let cancelled = ScriptedGate()
    /// Opened when a request came past the gate.
    let left = ScriptedGate()

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        await withTaskCancellationHandler {
            // A task of its own is not cancelled with the call's.
            await Task { [gate] in try? await gate.pass() }.value
        } onCancel: {
            cancelled.open()
        }
        left.open()
        return Response(head: HTTPResponse(status: .ok), body: .whole(RawData([])))
    }
}
