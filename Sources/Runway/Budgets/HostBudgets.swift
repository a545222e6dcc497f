/// The budgets of hosts, each a ``RetryBudget``. Those that are full take no room.
struct HostBudgets {
    private let full: RetryBudget
    /// The budgets that are not full.
    private var budgets: LeastRecentlyUsed<Origin, RetryBudget>

    /// Makes budgets that are all full.
    ///
    /// - Parameters:
    ///   - callsPerAttempt: How many calls earn a further attempt.
    ///   - reserve: The most further attempts that one holds.
    ///   - maximumHosts: The most hosts that are kept apart; the least recently used is forgotten, and full again.
    init(callsPerAttempt: Int, reserve: Int, maximumHosts: Int) {
        full = RetryBudget(callsPerAttempt: callsPerAttempt, reserve: reserve)
        budgets = LeastRecentlyUsed(maximumCount: maximumHosts, maximumByteCount: .max)
    }

    /// Whether no budget was drawn on of late, which is nearly always so: a deposit changes nothing then.
    var areFull: Bool { budgets.count == 0 }

    /// Puts into the budget of a host what a call to it earns.
    mutating func deposit(for origin: Origin) { change(origin) { $0.deposit() } }

    /// Puts back a further attempt that was not made.
    mutating func giveBack(for origin: Origin) { change(origin) { $0.giveBack() } }

    /// Takes one further attempt out of the budget of a host; `false` where there is none left.
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
