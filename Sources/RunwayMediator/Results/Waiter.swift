import Synchronization

/// Waits for the first of: a result, a closed page, a cancellation. Later ones have no effect.
final class Waiter<Value: Sendable>: Sendable {
    typealias End = Result<Value, MediatorError>

    private enum State {
        case open
        case awaited(@Sendable (End) -> Void)
        case ended(End)
        case delivered
    }

    /// Guards the first end until it is delivered, and who receives it.
    private let state = Mutex(State.open)

    /// - Returns: Whether this end is the first.
    @discardableResult func end(with end: End) -> Bool {
        let (isFirst, receive): (Bool, (@Sendable (End) -> Void)?) = state.withLock { state in
            switch state {
            case .open:
                state = .ended(end)
                return (true, nil)
            case .awaited(let receive):
                state = .delivered
                return (true, receive)
            case .ended, .delivered: return (false, nil)
            }
        }
        // Outside the lock: the receiver may release the last copy of the reply, which ends once more.
        receive?(end)
        return isFirst
    }

    /// Calls `receive` once, with the first end. Only one receiver is possible.
    func whenEnded(_ receive: @escaping @Sendable (End) -> Void) {
        let end: End? = state.withLock { state in
            if case .ended(let end) = state {
                state = .delivered
                return end
            }
            state = .awaited(receive)
            return nil
        }
        if let end { receive(end) }
    }
}
