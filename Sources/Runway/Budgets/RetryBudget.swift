/// The further attempts, or the hedges, that one host is still given: a token bucket that is counted in whole calls.
struct RetryBudget {
    private let price: Int
    private let capacity: Int
    /// How many calls' worth of attempts is left.
    private(set) var balance: Int

    /// Makes a full budget.
    ///
    /// - Parameters:
    ///   - callsPerAttempt: How many calls earn a further attempt.
    ///   - reserve: The most further attempts that it holds.
    init(callsPerAttempt: Int, reserve: Int) {
        price = max(1, callsPerAttempt)
        capacity = price * max(0, reserve)
        balance = capacity
    }

    /// Whether nothing was taken out that was not put back.
    var isFull: Bool { balance == capacity }

    /// Puts in what one call earns.
    mutating func deposit() { balance = min(capacity, balance + 1) }

    /// Puts back one further attempt that was not made.
    mutating func giveBack() { balance = min(capacity, balance + price) }

    /// Takes out one further attempt; `false` where there is none left.
    mutating func withdraw() -> Bool {
        guard balance >= price else { return false }
        balance -= price
        return true
    }
}
