public import ServiceLifecycle
import Synchronization

extension EventHub {
    /// Ends all connections, each at a random moment of the draining time, and refuses new ones with `Retry-After`.
    ///
    /// The function returns at once. A server's graceful shutdown calls it for every open stream, and ``run()`` before
    /// that. Call it yourself if a proxy must be emptied first.
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

/// A hub that runs as a service after the application in the same `ServiceGroup`, whose services shut down in reverse
/// order, ends its streams before the server shuts down: `ServiceGroup(services: [application, hub], logger: logger)`.
///
/// Otherwise the end of the last stream of an HTTP/2 connection may not reach the client: once a shutdown has begun,
/// Hummingbird closes the connection when that end is written, and before it is flushed. The client then resumes after
/// the last event that it received, as after a loss.
extension EventHub: Service {
    /// Waits for the graceful shutdown of the service, calls ``drain()``, and returns when all connections have ended,
    /// which takes at most 5 s longer than ``EventHubOptions/drainingTime`` if the log responds. Until then the server
    /// accepts other requests.
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
