import Synchronization

/// What the flights of a layer share to retry with sense: the budgets of hosts, and the chance that spreads waits.
final class RetryControl: Sendable {
    private struct State {
        var budgets: HostBudgets
        var randomness: any RandomNumberGenerator & Sendable
    }

    let limits: RetryLimits
    /// Guards the budgets and the random numbers.
    private let state: Mutex<State>

    init(limits: RetryLimits, randomness: any RandomNumberGenerator & Sendable) {
        self.limits = limits
        state = Mutex(
            State(
                budgets: HostBudgets(
                    callsPerAttempt: limits.callsPerRetry, reserve: limits.reserve, maximumHosts: limits.maximumHosts),
                randomness: randomness))
    }

    /// Puts into the budget of a host what a call to it earns.
    func deposit(for origin: @autoclosure () -> Origin) {
        state.withLock { state in
            guard !state.budgets.areFull else { return }
            state.budgets.deposit(for: origin())
        }
    }

    /// Takes one further attempt out of the budget of a host; `false` where there is none left.
    func withdraw(for origin: Origin) -> Bool { state.withLock { $0.budgets.withdraw(for: origin) } }

    /// 128 bits that nobody can foresee, of the layer's randomness.
    func randomBits() -> (UInt64, UInt64) {
        state.withLock { ($0.randomness.next(), $0.randomness.next()) }
    }

    /// A wait between nothing and `ceiling`, every one as likely as the others.
    func jitter(upTo ceiling: Duration) -> Duration {
        state.withLock { state in
            ceiling * Double.random(in: 0...1, using: &state.randomness)
        }
    }
}
