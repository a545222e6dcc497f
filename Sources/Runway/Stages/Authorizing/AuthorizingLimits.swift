/// How many calls wait for an access token, and how long for the store that keeps it.
public struct AuthorizingLimits: Sendable, Hashable {
    /// The most calls that wait for one renewal; one more fails as ``NetworkError/Kind/overloaded``. The default is 1,000.
    ///
    /// Calls that share a request count once.
    public var maximumWaitingCalls: Int
    /// The most accounts whose tokens are held in memory at a time; those of the others are loaded again. The default is 100.
    public var maximumAccounts: Int

    /// The longest wait for the ``TokenStore``. The default is 10 s; a negative one is none.
    ///
    /// Where the store has not loaded a token by then, the calls that need it fail as ``NetworkError/Kind/storage``. Where it has not kept
    /// or removed one, the sign-in or sign-out does, and a renewal goes on: what the layer holds in memory counts.
    public var storeDeadline: Duration

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - maximumWaitingCalls: The most calls that wait for one renewal; at least one may.
    ///   - maximumAccounts: The most accounts whose tokens are held in memory; at least one is.
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
