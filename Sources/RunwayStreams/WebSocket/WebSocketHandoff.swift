import Runway
import Synchronization

/// Passes elements from the connections of a WebSocket to its only reader, one at a time. Adding an element waits until
/// the previous one is taken. Further elements wait in the connection, which has a limit.
final class WebSocketHandoff: Sendable {
    private struct State {
        var element: WebSocketElement?
        var end: Result<Void, NetworkError>?
        var reader: CheckedContinuation<Void, Never>?
        var writer: CheckedContinuation<Void, Never>?

        /// Removes and returns the waiters. The caller resumes them without the lock.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { (reader, writer) = (nil, nil) }
            return [reader, writer].compactMap { $0 }
        }

        /// Takes the element, or returns how the reading ended. Later reads return `nil`.
        mutating func takeNext() -> (
            element: WebSocketElement?, end: Result<Void, NetworkError>?, waiters: [CheckedContinuation<Void, Never>]
        ) {
            guard let taken = element.take() else {
                defer { if end != nil { end = .success(()) } }
                return (nil, end, [])
            }
            return (taken, nil, takeWaiters())
        }
    }

    /// Guards the element and the waiters.
    private let state = Mutex(State())

    /// Waits until the previous element is taken, then adds an element. Returns `false` if the task was cancelled or
    /// the reading has ended.
    func add(_ element: WebSocketElement) async -> Bool {
        while true {
            let (isOver, waiters) = state.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                if Task.isCancelled || state.end != nil { return (true, []) }
                guard state.element == nil else { return (nil, []) }
                state.element = element
                return (false, state.takeWaiters())
            }
            for waiter in waiters { waiter.resume() }
            if let isOver { return !isOver }
            await wait(\.writer) { $0.element == nil }
        }
    }

    /// Ends the reading after the waiting element. Does nothing if the reading has ended already.
    func finish(_ error: NetworkError?) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for the next element. Returns `nil` at the end, and if the task is cancelled.
    ///
    /// - Throws: The error that ended the reading, once.
    func next() async throws(NetworkError) -> WebSocketElement? {
        while true {
            let (element, end, waiters) = state.withLock { $0.takeNext() }
            for waiter in waiters { waiter.resume() }
            if let element { return element }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { return nil }
            await wait(\.reader) { $0.element != nil }
        }
    }

    /// Waits until a condition is true, the reading has ended, or the task is cancelled.
    private func wait(
        _ place: any WritableKeyPath<State, CheckedContinuation<Void, Never>?> & Sendable,
        until isReady: @Sendable (State) -> Bool
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if isReady(state) || state.end != nil || Task.isCancelled { return true }
                    state[keyPath: place] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state[keyPath: place] = nil }
                return state[keyPath: place]
            }
            waiter?.resume()
        }
    }
}
