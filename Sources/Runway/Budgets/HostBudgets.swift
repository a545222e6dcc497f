/// The retry budgets of hosts. Full budgets are not stored.
struct HostBudgets {
    private let full: RetryBudget
    private var budgets: LeastRecentlyUsed<Origin, RetryBudget>

    init(_ limits: AttemptLimits) {
        full = RetryBudget(limits)
        budgets = LeastRecentlyUsed(maximumCount: limits.maximumHosts, maximumByteCount: .max)
    }

    /// Whether all budgets are full, as is nearly always the case. A deposit then changes nothing.
    var areFull: Bool { budgets.count == 0 }

    /// Credits one call to the budget of the call's host.
    mutating func deposit(for origin: Origin) { change(origin) { $0.deposit() } }

    /// Returns one withdrawn attempt to the budget of its host, because the attempt was not made.
    mutating func refund(for origin: Origin) { change(origin) { $0.refund() } }

    /// Withdraws one further attempt from the budget of a host. Returns `false` if the budget is exhausted.
    mutating func withdraw(for origin: Origin) -> Bool {
        var budget = budgets.value(for: origin) ?? full
        guard budget.withdraw() else { return false }
        budgets.insert(budget, for: origin, byteCount: 0)
        return true
    }

    private mutating func change(_ origin: Origin, _ change: (inout RetryBudget) -> Void) {
        guard var budget = budgets.value(for: origin) else { return }
        change(&budget)
        if budget.isFull {
            budgets.remove(origin)
        } else {
            budgets.insert(budget, for: origin, byteCount: 0)
        }
    }
}
