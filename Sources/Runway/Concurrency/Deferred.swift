import Synchronization

/// A value that is set once and that one task waits for.
final class Deferred<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case set(Value)
    }

    /// Guards the value, or the task that waits for the value.
    private let state = Mutex(State.open)

    /// Waits for the value. Cancellation of the task does not end the wait. Only one task may read the property.
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

    /// Sets the value. Later calls have no effect.
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
