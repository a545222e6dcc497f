import Synchronization

/// What the flights of a layer share for retries: the budgets of hosts, and the jitter of backoffs.
final class RetryControl: Sendable {
    let limits: RetryLimits
    private let randomness: LayerRandomness
    /// Guards the budgets.
    private let budgets: Mutex<HostBudgets>

    init(limits: RetryLimits, randomness: LayerRandomness) {
        self.limits = limits
        self.randomness = randomness
        budgets = Mutex(
            HostBudgets(
                callsPerAttempt: limits.callsPerRetry, reserve: limits.reserve, maximumHosts: limits.maximumHosts))
    }

    /// Adds to the budget of a host what a call to it earns.
    func deposit(for origin: @autoclosure () -> Origin) {
        budgets.withLock { budgets in
            guard !budgets.areFull else { return }
            budgets.deposit(for: origin())
        }
    }

    /// Takes one retry from the budget of a host; returns `false` if none is left.
    func withdraw(for origin: Origin) -> Bool { budgets.withLock { $0.withdraw(for: origin) } }

    /// A backoff between zero and `ceiling`, uniformly distributed.
    func jitter(upTo ceiling: Duration) -> Duration { randomness.duration(upTo: ceiling) }
}
