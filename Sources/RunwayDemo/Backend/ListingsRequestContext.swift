#if Command
    import Hummingbird
    import NIOCore

    /// The context of a route, which also has the connection on which the request was received.
    struct ListingsRequestContext: RequestContext {
        var coreContext: CoreRequestContextStorage

        /// The stream of the request over HTTP/2, its connection over HTTP/1.1; for a merged request, the one of its
        /// envelope.
        let channel: any Channel

        /// Whether the request was received in an envelope of merged requests.
        var isMerged = false

        init(source: ApplicationRequestContextSource) {
            self.coreContext = CoreRequestContextStorage(source: source)
            self.channel = source.channel
        }

        /// Waits for `duration`; throws `CancellationError` as soon as the response is not needed any more: the stream
        /// or connection is closed, or the task is cancelled.
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
#endif
