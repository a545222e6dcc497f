/// The retry budgets of hosts. A full budget is not stored.
struct HostBudgets {
    private let full: RetryBudget
    /// The budgets that are not full.
    private var budgets: LeastRecentlyUsed<Origin, RetryBudget>

    /// Budgets that are all full.
    init(_ limits: AttemptLimits) {
        full = RetryBudget(limits)
        budgets = LeastRecentlyUsed(maximumCount: limits.maximumHosts, maximumByteCount: .max)
    }

    /// Whether all budgets are full, as they nearly always are: a deposit then changes nothing.
    var areFull: Bool { budgets.count == 0 }

    /// Adds the share that a call earns to the budget of its host.
    mutating func deposit(for origin: Origin) { change(origin) { $0.deposit() } }

    /// Returns to a budget a further attempt that was not made.
    mutating func refund(for origin: Origin) { change(origin) { $0.refund() } }

    /// Takes one further attempt from the budget of a host; returns `false` if none is left.
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
