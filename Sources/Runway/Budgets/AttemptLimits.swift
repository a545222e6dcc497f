/// Limits for the further requests of a call, beyond its first, that a layer sends to a host: retries do not make an
/// outage worse, and hedges do not slow down a host that is slow for all.
///
/// Every host has a budget, full at first: a further attempt takes one out, ``callsPerAttempt`` calls add one, up to
/// ``reserve``. With ``retrying`` a host receives at most a tenth more requests than there are calls, and ten. Retries
/// and hedges have separate budgets.
public struct AttemptLimits: Sendable, Hashable {
    /// The number of calls that add one further attempt to the budget; for hedges, only requests that may be hedged
    /// count. From 1 to 1,000,000.
    public let callsPerAttempt: Int
    /// The most further attempts in a host's budget. From 0, which allows none, to 1,000,000.
    public let reserve: Int
    /// The most hosts with a budget of their own; the least recently used is removed, and is full again when it is used
    /// next. Hosts without a recent further attempt occupy nothing. The default is 256; at least 1. For hedges it is
    /// also the most endpoints whose response times are recorded.
    public let maximumHosts: Int

    /// One retry for every ten calls, and ten more.
    public static let retrying = AttemptLimits(callsPerAttempt: 10, reserve: 10)
    /// One hedge for every twenty requests that may be hedged, and five more.
    public static let hedging = AttemptLimits(callsPerAttempt: 20, reserve: 5)
    /// No request is sent a second time, whatever the policy of its call is.
    public static let none = AttemptLimits(callsPerAttempt: 1, reserve: 0)

    /// Bounds further attempts; a value out of bounds is the nearest bound.
    ///
    /// - Parameters:
    ///   - callsPerAttempt: The number of calls that add one further attempt to the budget.
    ///   - reserve: The most further attempts in a host's budget.
    ///   - maximumHosts: The most hosts with a budget of their own.
    public init(callsPerAttempt: Int, reserve: Int, maximumHosts: Int = 256) {
        self.callsPerAttempt = min(max(callsPerAttempt, 1), 1_000_000)
        self.reserve = min(max(reserve, 0), 1_000_000)
        self.maximumHosts = max(maximumHosts, 1)
    }
}
