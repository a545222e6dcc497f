import Synchronization

/// The system's grace for work around calls, such as reading a stored request from disk. A call of the work has a grace
/// of its own.
package final class GraceHold: Sendable {
    private enum State {
        /// The app is being asked.
        case beginning
        case held(Int)
        case ended
    }

    private let grace: any BackgroundGrace
    /// Guards the grace. The caller that changes the state from held ends it.
    private let state = Mutex(State.beginning)

    /// Asks the system for time.
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

    /// Ends the grace, once: the system may suspend the app.
    package func end() {
        let token = state.withLock { state -> Int? in
            defer { state = .ended }
            if case .held(let token) = state { return token }
            return nil
        }
        if let token { grace.end(token) }
    }
}
