import Synchronization

/// The state for hedging that all calls of a layer share: the budgets of hosts, and the response times of endpoints.
final class HedgeControl: Sendable {
    /// One endpoint at one host. Response times are compared separately for each of them, because a time that is slow
    /// for one endpoint may be fast for another.
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

    /// Records the start of a request that may be hedged. Credits the request to the budget of its host, and returns
    /// the delay of the second attempt, or `nil` if none is made.
    func begin(_ subject: Subject, _ policy: HedgingPolicy) -> Duration? {
        state.withLock { state in
            state.budgets.deposit(for: subject.origin)
            guard case .learned = policy else { return policy.delay(knowing: nil) }
            return policy.delay(knowing: state.latencies.value(for: subject)?.percentile95)
        }
    }

    /// Records a lower bound for the time to the start of a response.
    func note(_ time: Duration, of subject: Subject) {
        state.withLock { state in
            var latencies = state.latencies.remove(subject) ?? LatencyWindow()
            latencies.note(time)
            state.latencies.insert(latencies, for: subject, byteCount: 0)
        }
    }

    /// Withdraws one second attempt from the budget of a host. Returns `false` if the budget is exhausted.
    func withdraw(for origin: Origin) -> Bool { state.withLock { $0.budgets.withdraw(for: origin) } }

    /// Returns one withdrawn second attempt to the budget of its host, because the attempt was not made.
    func refund(for origin: Origin) { state.withLock { $0.budgets.refund(for: origin) } }
}

/// The recent times from sending a request to the start of its response.
struct LatencyWindow {
    /// The maximum number of recorded times.
    static let capacity = 64
    /// The minimum number of times for computing a percentile.
    static let minimumCount = 16

    private var samples: [Duration] = []
    private var next = 0

    mutating func note(_ sample: Duration) {
        if samples.count < Self.capacity {
            samples.append(sample)
        } else {
            samples[next] = sample
            next = (next + 1) % Self.capacity
        }
    }

    /// The time within which 95 of 100 responses began; `nil` while too few times are recorded.
    var percentile95: Duration? {
        guard samples.count >= Self.minimumCount else { return nil }
        return samples.sorted()[samples.count * 95 / 100]
    }
}
