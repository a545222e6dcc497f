/// Limits for the rows that a ``PagedAPIManager`` holds in memory, and for its requests to combine pages.
public struct PagingLimits: Sendable, Hashable {
    /// The greatest number of rows in memory. The default is 1000; at least three pages. Rows beyond it are evicted at
    /// the far end of the list.
    public let maximumItemCount: Int
    /// The most requests of one load in addition to the first. The default is 12.
    public let maximumExtraRequestCount: Int
    /// The greatest number of pages of a list that is paged by cursor, between two reloads. The default is 10 000.
    /// Their cursors are held in memory.
    public let maximumCursorCount: Int

    /// Bounds a list; see the properties for the defaults. A negative number counts as 0.
    public init(maximumItemCount: Int = 1000, maximumExtraRequestCount: Int = 12, maximumCursorCount: Int = 10_000) {
        self.maximumItemCount = max(0, maximumItemCount)
        self.maximumExtraRequestCount = max(0, maximumExtraRequestCount)
        self.maximumCursorCount = max(1, maximumCursorCount)
    }
}
