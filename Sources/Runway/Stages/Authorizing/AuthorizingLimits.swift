/// How many calls wait for an access token, and how long the layer waits for the token store.
public struct AuthorizingLimits: Sendable, Hashable {
    /// The most calls that wait for one renewal; one more fails as ``NetworkError/Kind/overloaded``. The default is 1,000.
    ///
    /// Calls that share a request count once.
    public var maximumWaitingCalls: Int
    /// The most accounts whose tokens are in memory at a time; other tokens are loaded again. The default is 100.
    public var maximumAccounts: Int

    /// The longest wait for the ``TokenStore``. The default is 10 s; a negative one is none.
    ///
    /// If the store has not loaded a token by then, the calls that need it fail as ``NetworkError/Kind/storage``. If it has not
    /// stored or removed one, the sign-in or sign-out throws that; a renewal continues, since the token in memory is the one
    /// that counts.
    public var storeDeadline: Duration

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumWaitingCalls: The most calls that wait for one renewal; at least 1.
    ///   - maximumAccounts: The most accounts whose tokens are in memory; at least 1.
    ///   - storeDeadline: The longest wait for the store.
    public init(
        maximumWaitingCalls: Int = 1000, maximumAccounts: Int = 100, storeDeadline: Duration = .seconds(10)
    ) {
        self.maximumWaitingCalls = maximumWaitingCalls
        self.maximumAccounts = maximumAccounts
        self.storeDeadline = storeDeadline
    }

    var rules: SharedWorkRules {
        SharedWorkRules(
            maximumListed: .max, maximumMembers: maximumWaitingCalls, crowding: .isRefused, abandonment: .isCompleted)
    }
}
