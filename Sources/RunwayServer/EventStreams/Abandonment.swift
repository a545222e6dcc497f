import Synchronization

/// Runs an operation that may ignore cancellation.
///
/// If the task is cancelled, the function throws `CancellationError` immediately. The operation is cancelled too, and
/// its later result is discarded.
func withAbandonment<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let wait = AbandonableWait<Value>()
    let task = Task {
        do { wait.end(.success(try await operation())) } catch { wait.end(.failure(error)) }
    }
    return try await withTaskCancellationHandler {
        try await wait.result()
    } onCancel: {
        task.cancel()
        wait.end(.failure(CancellationError()))
    }
}

/// A result that one task awaits. Only the first result counts.
private final class AbandonableWait<Value: Sendable>: Sendable {
    private enum State {
        case running(CheckedContinuation<Value, any Error>?)
        case ended(Result<Value, any Error>)
    }

    /// Guards the result and the waiting task.
    private let state = Mutex(State.running(nil))

    func result() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let ended = state.withLock { state -> Result<Value, any Error>? in
                if case .ended(let result) = state { return result }
                state = .running(continuation)
                return nil
            }
            if let ended { continuation.resume(with: ended) }
        }
    }

    func end(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard case .running(let continuation) = state else { return nil }
            state = .ended(result)
            return continuation
        }
        continuation?.resume(with: result)
    }
}
