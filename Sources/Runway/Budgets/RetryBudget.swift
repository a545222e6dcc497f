/// The number of further attempts that one host may still receive: a token bucket, counted in calls.
struct RetryBudget {
    private let price: Int
    private let capacity: Int
    /// The content of the bucket, counted in calls. A further attempt costs `price` calls.
    private(set) var balance: Int

    init(_ limits: AttemptLimits) {
        price = limits.callsPerAttempt
        capacity = price * limits.reserve
        balance = capacity
    }

    var isFull: Bool { balance == capacity }

    /// Adds the share that one call contributes.
    mutating func deposit() { balance = min(capacity, balance + 1) }

    /// Restores one attempt to the budget, because a withdrawn attempt was not made.
    mutating func refund() { balance = min(capacity, balance + price) }

    /// Withdraws one further attempt. Returns `false` if the budget is exhausted.
    mutating func withdraw() -> Bool {
        guard balance >= price else { return false }
        balance -= price
        return true
    }
}
