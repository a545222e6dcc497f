/// The bounds of a ``ResponseCache`` in memory. With a bound of 0 or less, nothing is stored.
public struct CacheLimits: Sendable, Hashable {
    /// The most responses. The default is 1,000.
    public var maximumCount: Int
    /// The most bytes of all responses together: bodies, the indexes of those that are JSON, header fields and keys. The default is 32 MiB.
    ///
    /// A larger response is not stored in memory.
    public var maximumByteCount: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumCount: The most responses. The default is 1,000.
    ///   - maximumByteCount: The most bytes of all responses together. The default is 32 MiB.
    public init(maximumCount: Int = 1000, maximumByteCount: Int = 32 << 20) {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }
}
