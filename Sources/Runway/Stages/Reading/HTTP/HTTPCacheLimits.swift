/// How much an ``HTTPCacheStore`` keeps. What was not used for longest goes first.
public struct HTTPCacheLimits: Sendable, Hashable {
    /// The most targets of which answers are kept. The default is 1,000.
    public let maximumTargets: Int
    /// The most bytes: bodies, the indexes of those that are JSON, and header fields together. The default is 32 MiB.
    public let maximumByteCount: Int
    /// The largest body that is kept, in bytes. The default is 4 MiB.
    public let maximumBodyByteCount: Int
    /// The most answers of one target that differ by the fields that `Vary` names, or by whose they are. The default is 16.
    public let maximumVariants: Int

    /// Makes limits. A negative one is zero: nothing is kept.
    public init(
        maximumTargets: Int = 1000, maximumByteCount: Int = 32 << 20, maximumBodyByteCount: Int = 4 << 20,
        maximumVariants: Int = 16
    ) {
        self.maximumTargets = max(0, maximumTargets)
        self.maximumByteCount = max(0, maximumByteCount)
        self.maximumBodyByteCount = max(0, maximumBodyByteCount)
        self.maximumVariants = max(0, maximumVariants)
    }
}
