/// The further attempts, or hedges, that one host may still receive: a token bucket counted in whole calls.
struct RetryBudget {
    private let price: Int
    private let capacity: Int
    /// The rest of the budget, counted in calls.
    private(set) var balance: Int

    /// A full budget.
    init(_ limits: AttemptLimits) {
        price = limits.callsPerAttempt
        capacity = price * limits.reserve
        balance = capacity
    }

    /// Whether everything that was withdrawn has been deposited again.
    var isFull: Bool { balance == capacity }

    /// Adds the share that one call earns.
    mutating func deposit() { balance = min(capacity, balance + 1) }

    /// Returns one further attempt that was not made.
    mutating func refund() { balance = min(capacity, balance + price) }

    /// Takes one further attempt; returns `false` if none is left.
    mutating func withdraw() -> Bool {
        guard balance >= price else { return false }
        balance -= price
        return true
    }
}
