/// How many second attempts a layer sends to a host, so that a host that is slow for all is not made slower.
///
/// Every host has a budget, full at first: a second attempt takes one out, ``callsPerHedge`` requests that may be hedged add
/// one, up to ``reserve``. So a host receives at most a twentieth more of these requests than were made, and five. The budget
/// is separate from that of ``RetryLimits``.
public struct HedgeLimits: Sendable, Hashable {
    /// How many requests add a second attempt to the budget. The default is 20; from 1 to 1,000,000.
    public let callsPerHedge: Int
    /// The most second attempts in a host's budget. The default is 5; from 0, which allows none, to 1,000,000.
    public let reserve: Int
    /// The most hosts with a budget of their own, and the most endpoints whose times are recorded; the least recently used is
    /// removed. The default is 256; at least 1.
    public let maximumHosts: Int

    /// Limits that hedge nothing, whatever an endpoint's policy is.
    public static let none = HedgeLimits(reserve: 0)

    /// Creates limits; a value out of bounds is the nearest bound.
    ///
    /// - Parameters:
    ///   - callsPerHedge: How many requests add a second attempt to the budget.
    ///   - reserve: The most second attempts in a host's budget.
    ///   - maximumHosts: The most hosts with a budget of their own.
    public init(callsPerHedge: Int = 20, reserve: Int = 5, maximumHosts: Int = 256) {
        self.callsPerHedge = min(max(callsPerHedge, 1), 1_000_000)
        self.reserve = min(max(reserve, 0), 1_000_000)
        self.maximumHosts = max(maximumHosts, 1)
    }
}
