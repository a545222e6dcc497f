/// How many calls wait for an access token.
public struct AuthorizingLimits: Sendable, Hashable {
    /// The most calls that wait for one renewal; one more fails as ``NetworkError/Kind/overloaded``. The default is 1,000.
    ///
    /// Calls that share a request count once.
    public var maximumWaitingCalls: Int
    /// The most accounts whose tokens are held in memory at a time; those of the others are loaded again. The default is 100.
    public var maximumAccounts: Int

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - maximumWaitingCalls: The most calls that wait for one renewal; at least one may.
    ///   - maximumAccounts: The most accounts whose tokens are held in memory; at least one is.
    public init(maximumWaitingCalls: Int = 1000, maximumAccounts: Int = 100) {
        self.maximumWaitingCalls = maximumWaitingCalls
        self.maximumAccounts = maximumAccounts
    }

    var rules: SharedWorkRules {
        SharedWorkRules(
            maximumListed: .max, maximumMembers: maximumWaitingCalls, crowding: .isRefused, abandonment: .isCompleted)
    }
}
