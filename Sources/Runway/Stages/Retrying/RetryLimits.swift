/// How many further attempts a layer sends to a host, so that retries do not make an outage worse.
///
/// Every host has a budget, full at first: a further attempt takes one out, ``callsPerRetry`` calls add one, up to ``reserve``.
/// So a host receives at most a tenth more requests than there are calls, and ten.
public struct RetryLimits: Sendable, Hashable {
    /// How many calls add a further attempt to the budget. The default is 10; from 1 to 1,000,000.
    public let callsPerRetry: Int
    /// The most further attempts in a host's budget. The default is 10; from 0, which allows none, to 1,000,000.
    public let reserve: Int
    /// The most hosts with a budget of their own; the least recently used is removed, and is full again when it is used next.
    /// Hosts without a recent further attempt occupy nothing. The default is 256; at least 1.
    public let maximumHosts: Int

    /// Limits with which no call is sent a second time, whatever its policy is.
    public static let none = RetryLimits(reserve: 0)

    /// Creates limits; a value out of bounds is the nearest bound.
    ///
    /// - Parameters:
    ///   - callsPerRetry: How many calls add a further attempt to the budget.
    ///   - reserve: The most further attempts in a host's budget.
    ///   - maximumHosts: The most hosts with a budget of their own.
    public init(callsPerRetry: Int = 10, reserve: Int = 10, maximumHosts: Int = 256) {
        self.callsPerRetry = min(max(callsPerRetry, 1), 1_000_000)
        self.reserve = min(max(reserve, 0), 1_000_000)
        self.maximumHosts = max(maximumHosts, 1)
    }
}
