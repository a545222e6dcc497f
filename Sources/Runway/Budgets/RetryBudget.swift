/// A token bucket that limits the further attempts to one host. Each call adds one token, and a further attempt costs
/// `price` tokens.
struct RetryBudget {
    private let price: Int
    private let capacity: Int
    /// The number of tokens in the bucket. A further attempt costs `price` tokens.
    private(set) var balance: Int

    init(_ limits: AttemptLimits) {
        price = limits.callsPerAttempt
        capacity = price * limits.reserve
        balance = capacity
    }

    var isFull: Bool { balance == capacity }

    /// Adds the token that one call contributes.
    mutating func deposit() { balance = min(capacity, balance + 1) }

    /// Returns one withdrawn attempt to the budget, because the attempt was not made.
    mutating func refund() { balance = min(capacity, balance + price) }

    /// Withdraws one further attempt. Returns `false` if the budget is exhausted.
    mutating func withdraw() -> Bool {
        guard balance >= price else { return false }
        balance -= price
        return true
    }
}
