/// How much a ``PagedAPIManager`` keeps, and how much it asks for to put a list right.
public struct PagingLimits: Sendable, Hashable {
    /// The most rows in memory. The default is 1000; at least three pages. Rows past it are let go at the far end of the list.
    public let maximumItemCount: Int
    /// The most requests of one load beside the one that it needs in any case. The default is 12.
    public let maximumExtraRequestCount: Int
    /// The most pages of a list that is paged by cursor, between two reloads. The default is 10 000. Their cursors are kept.
    public let maximumCursorCount: Int

    /// Makes limits; see the properties for the defaults. What is below 0 is 0.
    public init(maximumItemCount: Int = 1000, maximumExtraRequestCount: Int = 12, maximumCursorCount: Int = 10_000) {
        self.maximumItemCount = max(0, maximumItemCount)
        self.maximumExtraRequestCount = max(0, maximumExtraRequestCount)
        self.maximumCursorCount = max(1, maximumCursorCount)
    }
}
