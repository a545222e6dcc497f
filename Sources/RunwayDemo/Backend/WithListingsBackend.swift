#if Command
    /// Serves listings on a free port of the loopback while `body` runs; when it returns, no connection, task or port
    /// is left.
    ///
    /// ```swift
    /// try await withListingsBackend(ListingsBackend(seed: 7)) { backend in
    ///     print(backend.baseURL)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - backend: The backend.
    ///   - body: Runs in the caller's isolation as soon as the server accepts requests.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`, or of a backend that can't start.
    package func withListingsBackend<Value>(
        _ backend: ListingsBackend, _ body: (ServingBackend) async throws -> Value
    ) async throws -> Value {
        let (servings, continuation) = AsyncThrowingStream<ServingBackend, any Error>.makeStream()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await backend.run { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                    throw error
                }
            }
            defer { group.cancelAll() }
            guard let serving = try await servings.first(where: { _ in true }) else { throw CancellationError() }
            let value = try await body(serving)
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
    }
#endif
