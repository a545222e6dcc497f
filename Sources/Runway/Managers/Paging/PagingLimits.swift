/// Limits for the rows that a ``PagedAPIManager`` holds in memory, and for the requests that it makes to combine pages.
public struct PagingLimits: Sendable, Hashable {
    /// The maximum number of rows in memory. The default is 1000; at least three pages. If a load exceeds the maximum,
    /// rows at the far end of the list are evicted.
    public let maximumItemCount: Int
    /// The maximum number of requests of one load in addition to the first. The default is 12.
    public let maximumExtraRequestCount: Int
    /// The maximum number of pages between two reloads, for a list that is paged by cursor. The cursors are held in
    /// memory. The default is 10 000.
    public let maximumCursorCount: Int

    /// Creates limits. The properties state the defaults. A negative number is raised to 0.
    public init(maximumItemCount: Int = 1000, maximumExtraRequestCount: Int = 12, maximumCursorCount: Int = 10_000) {
        self.maximumItemCount = max(0, maximumItemCount)
        self.maximumExtraRequestCount = max(0, maximumExtraRequestCount)
        self.maximumCursorCount = max(1, maximumCursorCount)
    }
}
