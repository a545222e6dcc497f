/// How many further attempts a layer gives a host, so that an outage is not made worse by those who suffer from it.
///
/// Every host has a budget, full at first: a further attempt takes one out, ``callsPerRetry`` calls put one back, up to
/// ``reserve``. So over any time a host is sent at most a tenth more requests than there are calls, and ten.
public struct RetryLimits: Sendable, Hashable {
    /// How many calls earn a further attempt. The default is 10; from 1 to 1,000,000.
    public let callsPerRetry: Int
    /// The most further attempts that a host's budget holds. The default is 10; from 0, which allows none, to 1,000,000.
    public let reserve: Int
    /// The most hosts whose budgets are kept apart; the one that was not used for longest is forgotten, and is full again when it is
    /// met. Hosts without a further attempt of late take no room. The default is 256; at least 1.
    public let maximumHosts: Int

    /// No call of the layer is sent a second time, whatever its policy says.
    public static let none = RetryLimits(reserve: 0)

    /// Makes limits; what is out of bounds is the nearest bound.
    ///
    /// - Parameters:
    ///   - callsPerRetry: How many calls earn a further attempt.
    ///   - reserve: The most further attempts that a host's budget holds.
    ///   - maximumHosts: The most hosts whose budgets are kept apart.
    public init(callsPerRetry: Int = 10, reserve: Int = 10, maximumHosts: Int = 256) {
        self.callsPerRetry = min(max(callsPerRetry, 1), 1_000_000)
        self.reserve = min(max(reserve, 0), 1_000_000)
        self.maximumHosts = max(maximumHosts, 1)
    }
}
