import Synchronization

/// Calls actions when deadlines pass. One sleeping task serves all calls of a layer.
///
/// Deadlines are rarely reached, so scheduling and removing one must be cheap: each is one dictionary operation. The
/// sleeping task wakes at the deadline that was earliest when it fell asleep, checks the remaining deadlines, and
/// sleeps again. It ends when no deadline is left.
final class DeadlineTimer: Sendable {
    /// Called once when the deadline passes. The action must return immediately.
    typealias Action = @Sendable () -> Void

    struct Token: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var count: UInt64 = 0
        var pending: [Token: (instant: Duration, flight: Flight?, expire: Action)] = [:]
        var wakeUp: (instant: Duration, task: Task<Void, Never>)?
    }

    private let clock: LayerClock
    /// Guards the pending deadlines and the task that sleeps until the earliest of them.
    private let state = Mutex(State())

    init(clock: LayerClock) {
        self.clock = clock
    }

    deinit {
        state.withLock { $0.wakeUp?.task.cancel() }
    }

    /// Calls `expire` when the clock reaches `instant`, unless the deadline is removed first.
    ///
    /// - Parameter flight: The call that the deadline belongs to. If its deadline has been extended by then, the timer
    ///   waits for the extended deadline instead.
    func schedule(at instant: Duration, of flight: Flight? = nil, expire: @escaping Action) -> Token {
        state.withLock { state in
            // `isEndedEarly` must be read under the lock. If the call is ended early after this read,
            // ``expire(where:)`` finds its deadline among the pending ones.
            let instant = flight?.isEndedEarly == true ? .zero : instant
            state.count += 1
            let token = Token(number: state.count)
            state.pending[token] = (instant, flight, expire)
            if state.wakeUp.map({ $0.instant > instant }) ?? true { sleep(until: instant, &state) }
            return token
        }
    }

    func remove(_ token: Token) {
        state.withLock { _ = $0.pending.removeValue(forKey: token) }
    }

    /// Lets the pending deadlines of the calls that satisfy `predicate` expire at once. The caller must first mark
    /// these calls as ended early. ``schedule(at:of:expire:)`` reads that mark under the lock, so later deadlines of
    /// these calls also expire at once.
    func expire(where predicate: (Flight) -> Bool) {
        let expired = state.withLock { state in
            let tokens = state.pending.filter { $0.value.flight.map(predicate) ?? false }.map(\.key)
            return tokens.compactMap { state.pending.removeValue(forKey: $0)?.expire }
        }
        for expire in expired { expire() }
    }

    private func sleep(until instant: Duration, _ state: inout State) {
        state.wakeUp?.task.cancel()
        let task = Task.detached { [weak self, clock] in
            guard (try? await clock.sleep(until: instant)) != nil else { return }
            self?.wake()
        }
        state.wakeUp = (instant, task)
    }

    private func wake() {
        let now = clock.now
        let expired = state.withLock { state in
            var expired: [Action] = []
            for (token, deadline) in state.pending where deadline.instant <= now {
                if let later = deadline.flight?.ownDeadline, later > now {
                    state.pending[token]?.instant = later
                } else {
                    expired.append(deadline.expire)
                    state.pending[token] = nil
                }
            }
            state.wakeUp = nil
            if let next = state.pending.values.map(\.instant).min() { sleep(until: next, &state) }
            return expired
        }
        for expire in expired { expire() }
    }
}
