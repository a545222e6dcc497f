import Synchronization

/// The state for hedging that all flights of a layer share: the budgets of hosts, and the response times of endpoints.
final class HedgeControl: Sendable {
    /// The endpoint and host whose response times are compared: a time may be slow for one endpoint and fast for
    /// another.
    struct Subject: Hashable {
        var origin: Origin
        var endpoint: ObjectIdentifier
    }

    private struct State {
        var budgets: HostBudgets
        var latencies: LeastRecentlyUsed<Subject, LatencyWindow>
    }

    /// Guards the budgets and the times.
    private let state: Mutex<State>

    init(limits: AttemptLimits) {
        state = Mutex(
            State(
                budgets: HostBudgets(limits),
                latencies: LeastRecentlyUsed(maximumCount: limits.maximumHosts, maximumByteCount: .max)))
    }

    /// Records that a request that may be hedged starts: adds to the budget of its host, and returns the delay of its
    /// second attempt.
    func begin(_ subject: Subject, _ policy: HedgingPolicy) -> Duration? {
        state.withLock { state in
            state.budgets.deposit(for: subject.origin)
            guard case .learned = policy else { return policy.delay(knowing: nil) }
            return policy.delay(knowing: state.latencies.value(for: subject)?.percentile95)
        }
    }

    /// Records a lower bound of the time to the start of a response.
    func note(_ time: Duration, of subject: Subject) {
        state.withLock { state in
            var latencies = state.latencies.remove(subject) ?? LatencyWindow()
            latencies.note(time)
            state.latencies.insert(latencies, for: subject, byteCount: 0)
        }
    }

    /// Takes one second attempt from the budget of a host; returns `false` if none is left.
    func withdraw(for origin: Origin) -> Bool { state.withLock { $0.budgets.withdraw(for: origin) } }

    /// Returns a second attempt that was not made to the budget.
    func refund(for origin: Origin) { state.withLock { $0.budgets.refund(for: origin) } }
}
