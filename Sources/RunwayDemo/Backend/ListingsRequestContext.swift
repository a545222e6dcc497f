import Hummingbird
import NIOCore

/// The connection of a route's request, in addition to the request itself.
struct ListingsRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    /// The request's stream under HTTP/2, its connection under HTTP/1.1; of a merged request, its envelope's.
    let channel: any Channel

    /// Whether the request came in an envelope and not by itself.
    var isMerged = false

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.channel = source.channel
    }

    /// Waits for `duration`; throws `CancellationError` as soon as the response is not needed any more: the stream or
    /// connection is closed, or the task is cancelled.
    func delay(_ duration: Duration, on clock: any Clock<Duration>) async throws {
        guard duration > .zero else { return }
        // The task is unstructured because a closed channel calls a callback, and does not cancel a task.
        let wait = Task { try await clock.sleep(for: duration) }
        channel.closeFuture.whenComplete { _ in wait.cancel() }
        try await withTaskCancellationHandler {
            try await wait.value
        } onCancel: {
            wait.cancel()
        }
    }
}
