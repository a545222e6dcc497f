/// How many second attempts beside slow first ones a layer gives a host, so that a host that is slow for all is not made slower.
///
/// Every host has a budget, full at first: a second attempt takes one out, ``callsPerHedge`` requests that may be hedged put one back,
/// up to ``reserve``. So over any time a host is sent at most a twentieth more of these requests than there are, and five. It is apart
/// from the budget of ``RetryLimits``.
public struct HedgeLimits: Sendable, Hashable {
    /// How many requests earn a second attempt. The default is 20; from 1 to 1,000,000.
    public let callsPerHedge: Int
    /// The most second attempts that a host's budget holds. The default is 5; from 0, which allows none, to 1,000,000.
    public let reserve: Int
    /// The most hosts whose budgets are kept apart, and the most endpoints whose times are remembered; what was not used for longest is
    /// forgotten. The default is 256; at least 1.
    public let maximumHosts: Int

    /// Nothing is hedged, whatever an endpoint says.
    public static let none = HedgeLimits(reserve: 0)

    /// Makes limits; what is out of bounds is the nearest bound.
    ///
    /// - Parameters:
    ///   - callsPerHedge: How many requests earn a second attempt.
    ///   - reserve: The most second attempts that a host's budget holds.
    ///   - maximumHosts: The most hosts whose budgets are kept apart.
    public init(callsPerHedge: Int = 20, reserve: Int = 5, maximumHosts: Int = 256) {
        self.callsPerHedge = min(max(callsPerHedge, 1), 1_000_000)
        self.reserve = min(max(reserve, 0), 1_000_000)
        self.maximumHosts = max(maximumHosts, 1)
    }
}
