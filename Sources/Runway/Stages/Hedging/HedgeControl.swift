import Synchronization

/// What the flights of a layer share to hedge with sense: the budgets of hosts, and how long answers take to begin.
final class HedgeControl: Sendable {
    /// Whose answers are compared: those of one endpoint, since what is slow for one may be quick for another.
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

    init(limits: HedgeLimits) {
        state = Mutex(
            State(
                budgets: HostBudgets(
                    callsPerAttempt: limits.callsPerHedge, reserve: limits.reserve, maximumHosts: limits.maximumHosts),
                latencies: LeastRecentlyUsed(maximumCount: limits.maximumHosts, maximumByteCount: .max)))
    }

    /// A request that may be hedged begins: puts into the budget of its host what it earns, and gives its delay.
    func begin(_ subject: Subject, _ policy: HedgingPolicy) -> Duration? {
        state.withLock { state in
            state.budgets.deposit(for: subject.origin)
            guard case .learned = policy else { return policy.delay(knowing: nil) }
            return policy.delay(knowing: state.latencies.value(for: subject)?.percentile95)
        }
    }

    /// An answer began after so long, or would have begun later.
    func note(_ time: Duration, of subject: Subject) {
        state.withLock { state in
            var latencies = state.latencies.remove(subject) ?? LatencyWindow()
            latencies.note(time)
            state.latencies.insert(latencies, for: subject, byteCount: 0)
        }
    }

    /// Takes one second attempt out of the budget of a host; `false` where there is none left.
    func withdraw(for origin: Origin) -> Bool { state.withLock { $0.budgets.withdraw(for: origin) } }

    /// Puts one back that was not made after all.
    func giveBack(for origin: Origin) { state.withLock { $0.budgets.giveBack(for: origin) } }
}
