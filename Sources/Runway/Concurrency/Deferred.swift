import Synchronization

/// A value that only the first task sets, and that one task waits for.
final class Deferred<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case set(Value)
    }

    /// Guards the value, or the task that waits for it.
    private let state = Mutex(State.open)

    /// Waits for the value, even if the task is cancelled. Only one task may read it.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let existing: Value? = state.withLock { state in
                    if case .set(let value) = state { return value }
                    state = .awaited(continuation)
                    return nil
                }
                if let existing { continuation.resume(returning: existing) }
            }
        }
    }

    /// Sets the value. Only the first call has an effect.
    func set(_ value: Value) {
        let continuation: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open: state = .set(value)
            case .awaited(let continuation):
                state = .set(value)
                return continuation
            case .set: break
            }
            return nil
        }
        continuation?.resume(returning: value)
    }
}
