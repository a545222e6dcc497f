/// How many calls share one request, and how many requests can be shared.
public struct CoalescingLimits: Sendable, Hashable {
    /// The most requests that can be shared at a time; one more is not shared. The default is 1,000.
    public var maximumRequests: Int
    /// The most calls that share one request; one more starts another. The default is 1,000.
    public var maximumCallsPerRequest: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumRequests: The most requests that can be shared at a time. 0 shares none.
    ///   - maximumCallsPerRequest: The most calls that share one request. 1 or less shares none.
    public init(maximumRequests: Int = 1000, maximumCallsPerRequest: Int = 1000) {
        self.maximumRequests = maximumRequests
        self.maximumCallsPerRequest = maximumCallsPerRequest
    }

    var rules: SharedWorkRules {
        SharedWorkRules(
            maximumListed: maximumRequests, maximumMembers: maximumCallsPerRequest, crowding: .beginsAnother,
            abandonment: .isCancelled)
    }
}
