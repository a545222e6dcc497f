import Synchronization

/// A value that is set once, by whoever is first, and that one task waits for.
final class Deferred<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    /// Guards the value, or who waits for it.
    private let state = Mutex(State.open)

    /// Waits for the value, whatever becomes of the task. To be asked for by one task.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let given: Value? = state.withLock { state in
                    if case .given(let value) = state { return value }
                    state = .awaited(continuation)
                    return nil
                }
                if let given { continuation.resume(returning: given) }
            }
        }
    }

    /// Gives the value. The first counts; the others change nothing.
    func give(_ value: Value) {
        let continuation: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open: state = .given(value)
            case .awaited(let continuation):
                state = .given(value)
                return continuation
            case .given: break
            }
            return nil
        }
        continuation?.resume(returning: value)
    }
}
