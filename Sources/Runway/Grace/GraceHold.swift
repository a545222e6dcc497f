import Synchronization

/// Background time for work around calls, such as reading a stored request from disk. Each call within that work has
/// its own background time.
package final class GraceHold: Sendable {
    private enum State {
        /// The app's ``BackgroundGrace`` has not returned yet.
        case beginning
        case held(Int)
        case ended
    }

    private let grace: any BackgroundGrace
    /// Guards the background time. The caller that changes the state from `held` must end the background time.
    private let state = Mutex(State.beginning)

    init(_ grace: any BackgroundGrace, _ name: String) {
        self.grace = grace
        let token = grace.begin(name) { [weak self] in self?.end() }
        let isOver = state.withLock { state in
            if case .ended = state { return true }
            state = token.map { .held($0) } ?? .ended
            return false
        }
        if isOver, let token { grace.end(token) }
    }

    deinit { end() }

    /// Ends the background time, so that the system may suspend the app. A second call does nothing.
    package func end() {
        let token = state.withLock { state -> Int? in
            defer { state = .ended }
            if case .held(let token) = state { return token }
            return nil
        }
        if let token { grace.end(token) }
    }
}
