/// How many responses a ``ResponseCache`` stores by the rules of HTTP caching. Least recently used targets are evicted first.
public struct HTTPCacheLimits: Sendable, Hashable {
    /// The most targets with stored responses. The default is 1,000.
    public let maximumTargets: Int
    /// The most bytes: bodies, the indexes of those that are JSON, and header fields together. The default is 32 MiB.
    public let maximumByteCount: Int
    /// The largest body that is stored, in bytes. The default is 4 MiB.
    public let maximumBodyByteCount: Int
    /// The most responses of one target, which differ by the fields that `Vary` names or by their owner. The default is 16.
    public let maximumVariants: Int

    /// Creates limits. A negative one is zero: nothing is stored.
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
