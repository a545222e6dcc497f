public import ServiceLifecycle
import Synchronization

extension EventHub {
    /// Ends all connections, each at a random time within the draining time, and refuses new ones with `Retry-After`.
    ///
    /// The function returns immediately. A graceful shutdown of the server calls it for every open stream; ``run()``
    /// calls it earlier. Call it yourself to move clients off this process first, for example behind a proxy.
    public func drain() {
        let connections = state.withLock { state in
            defer { state.isDraining = true }
            return state.isDraining ? [] : Array(state.connections.values)
        }
        for connection in connections {
            let wait = options.drainingTime * Double.random(in: 0...1)
            Task { [clock] in
                try? await clock.sleep(wait)
                connection.finish(.draining)
            }
        }
    }
}

/// Runs as a service after the application in the same `ServiceGroup`: `ServiceGroup(services: [application, hub],
/// logger: logger)`. Services shut down in reverse order, so the hub ends its streams before the server shuts down.
///
/// In the opposite order, the end of the last stream of an HTTP/2 connection may not reach the client: during a
/// shutdown, Hummingbird closes the connection when the end is written, before it is flushed. The client then resumes
/// after the last received event, as after a lost connection.
extension EventHub: Service {
    /// Waits for the graceful shutdown of the service, calls ``drain()``, and returns when all connections have ended.
    /// If the log responds, this takes at most 5 s longer than ``EventHubOptions/drainingTime``. The server accepts
    /// other requests until then.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the shutdown.
    public func run() async throws {
        try await gracefulShutdown()
        drain()
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let isEmpty = state.withLock { state in
            state.onEmpty = continuation
            return state.connections.isEmpty
        }
        if isEmpty { return }
        for await _ in ends {}
    }
}
