/// Limits the further attempts (retries or hedges) that a layer sends to one host, beyond the first request of each
/// call. The limits prevent retries from making an outage worse, and hedges from slowing down a host that is already
/// slow.
///
/// Every host has a budget of further attempts, which is full at first. Each further attempt takes 1 from the budget.
/// Every ``callsPerAttempt`` calls add 1, up to ``reserve``. With ``retrying``, *n* calls to a host cause at most
/// *n*/10 + 10 retries. Retries and hedges have separate budgets.
public struct AttemptLimits: Sendable, Hashable {
    /// The number of calls that add one further attempt to the budget, from 1 to 1,000,000. For hedges, only requests
    /// that may be hedged count.
    public let callsPerAttempt: Int
    /// The maximum budget of a host, in further attempts, from 0 (no further attempts) to 1,000,000.
    public let reserve: Int
    /// The maximum number of hosts with a budget. The default is 256; at least 1. The least recently used budget is
    /// evicted first; its host starts again with a full budget. Hosts with a full budget are not stored.
    ///
    /// For hedges, this is also the maximum number of endpoints whose response times are recorded.
    public let maximumHosts: Int

    /// Limits for retries: one retry for every ten calls, and a reserve of ten.
    public static let retrying = AttemptLimits(callsPerAttempt: 10, reserve: 10)
    /// Limits for hedges: one hedge for every twenty requests that may be hedged, and a reserve of five.
    public static let hedging = AttemptLimits(callsPerAttempt: 20, reserve: 5)
    /// Limits that allow no further attempts, whatever the policy of a call allows.
    public static let none = AttemptLimits(callsPerAttempt: 1, reserve: 0)

    /// Creates limits. A value outside its bounds is replaced by the nearest bound.
    ///
    /// - Parameters:
    ///   - callsPerAttempt: The number of calls that add one further attempt to the budget.
    ///   - reserve: The maximum budget of a host, in further attempts.
    ///   - maximumHosts: The maximum number of hosts with a budget.
    public init(callsPerAttempt: Int, reserve: Int, maximumHosts: Int = 256) {
        self.callsPerAttempt = min(max(callsPerAttempt, 1), 1_000_000)
        self.reserve = min(max(reserve, 0), 1_000_000)
        self.maximumHosts = max(maximumHosts, 1)
    }
}
