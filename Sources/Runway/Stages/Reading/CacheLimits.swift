/// The bounds of a ``ResponseCache`` in memory, in all and for each ``CacheKind``, and of the requests that identical
/// reads share.
///
/// The responses of ``CachePolicy/http(onDisk:)`` belong to targets and have bounds of their own. With a bound of 0,
/// nothing is stored; a negative bound counts as 0.
///
/// ```swift
/// let limits = CacheLimits(maximumByteCount: 8 << 20, maximumByteCountByKind: [.images: 24 << 20])
/// let network = NetworkLayer(transport: transport, limits: LayerLimits(cache: limits))
/// ```
public struct CacheLimits: Sendable, Hashable {
    /// The most responses. The default is 1,000.
    public let maximumCount: Int
    /// The most bytes of all responses together: bodies, the indexes of those that are JSON, header fields and keys.
    /// The default is 32 MiB.
    ///
    /// A larger response is not stored in memory.
    public let maximumByteCount: Int
    /// The most bytes of the responses of each kind that has a budget of its own. The default is empty: all kinds share
    /// ``maximumByteCount``.
    ///
    /// Each budget holds for the responses stored by the client's own rules, and again for those stored by the rules of
    /// HTTP caching; each also has a ``maximumCount`` and a ``maximumHTTPTargets`` of its own. A response evicts none
    /// of another budget.
    public let maximumByteCountByKind: [CacheKind: Int]
    /// The most targets with responses stored by the rules of HTTP caching. The default is 1,000.
    public let maximumHTTPTargets: Int
    /// The most bytes of the responses stored by the rules of HTTP caching: bodies, the indexes of those that are JSON,
    /// and header fields together. The default is 32 MiB.
    public let maximumHTTPByteCount: Int
    /// The largest body that is stored by the rules of HTTP caching, in bytes. The default is 4 MiB.
    public let maximumHTTPBodyByteCount: Int
    /// The most responses of one target, which differ by the fields that `Vary` names or by their owner. The default is
    /// 16.
    public let maximumHTTPVariants: Int
    /// The most requests that can be shared at a time; one more is not shared. The default is 1,000; 0 shares none.
    public let maximumSharedRequests: Int
    /// The most calls that share one request; one more starts another. The default is 1,000; 1 or less shares none.
    public let maximumCallsPerRequest: Int

    /// Limits the responses that are stored in memory; see the properties for the defaults.
    public init(
        maximumCount: Int = 1000, maximumByteCount: Int = 32 << 20,
        maximumByteCountByKind: [CacheKind: Int] = [:], maximumHTTPTargets: Int = 1000,
        maximumHTTPByteCount: Int = 32 << 20, maximumHTTPBodyByteCount: Int = 4 << 20, maximumHTTPVariants: Int = 16,
        maximumSharedRequests: Int = 1000, maximumCallsPerRequest: Int = 1000
    ) {
        self.maximumCount = max(0, maximumCount)
        self.maximumByteCount = max(0, maximumByteCount)
        self.maximumByteCountByKind = maximumByteCountByKind.mapValues { max(0, $0) }
        self.maximumHTTPTargets = max(0, maximumHTTPTargets)
        self.maximumHTTPByteCount = max(0, maximumHTTPByteCount)
        self.maximumHTTPBodyByteCount = max(0, maximumHTTPBodyByteCount)
        self.maximumHTTPVariants = max(0, maximumHTTPVariants)
        self.maximumSharedRequests = max(0, maximumSharedRequests)
        self.maximumCallsPerRequest = max(1, maximumCallsPerRequest)
    }

    var sharing: SharedWorkRules {
        SharedWorkRules(
            maximumListed: maximumSharedRequests, maximumMembers: maximumCallsPerRequest, overflow: .startsAnother,
            abandonment: .isCancelled)
    }
}
