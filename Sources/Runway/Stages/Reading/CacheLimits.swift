/// Limits for the responses that a ``ResponseCache`` stores in memory, in total and for each ``CacheKind``, and for the
/// requests that identical reads share.
///
/// The responses of ``CachePolicy/http(onDisk:)`` belong to targets and have their own limits. With a limit of 0,
/// nothing is stored; a negative limit counts as 0.
///
/// ```swift
/// let limits = CacheLimits(maximumByteCount: 8 << 20, maximumByteCountByKind: [.images: 24 << 20])
/// let network = NetworkLayer(transport: transport, limits: LayerLimits(cache: limits))
/// ```
public struct CacheLimits: Sendable, Hashable {
    /// The maximum number of responses. The default is 1,000.
    public let maximumCount: Int
    /// The maximum number of bytes of all responses together: bodies, indexes of JSON bodies, header fields and keys.
    /// The default is 32 MiB.
    ///
    /// A larger response is not stored in memory.
    public let maximumByteCount: Int
    /// The maximum number of bytes for each kind with its own budget. The default is empty: all kinds share
    /// ``maximumByteCount``.
    ///
    /// Each budget exists twice: for responses stored by the client's rules, and for responses stored by the rules of
    /// HTTP caching. Each budget also has its own ``maximumCount`` and ``maximumHTTPTargets``. A response never evicts
    /// responses of another budget.
    public let maximumByteCountByKind: [CacheKind: Int]
    /// The maximum number of targets with responses stored by the rules of HTTP caching. The default is 1,000.
    public let maximumHTTPTargets: Int
    /// The maximum number of bytes of responses stored by the rules of HTTP caching: bodies, indexes of JSON bodies,
    /// and header fields together. The default is 32 MiB.
    public let maximumHTTPByteCount: Int
    /// The maximum size of a body that is stored by the rules of HTTP caching, in bytes. The default is 4 MiB.
    public let maximumHTTPBodyByteCount: Int
    /// The maximum number of responses of one target. They differ in the fields that `Vary` names, or belong to
    /// different senders. The default is 16.
    public let maximumHTTPVariants: Int
    /// The maximum number of requests that can be shared at a time. Further requests are not shared. The default is
    /// 1,000. With 0, no requests are shared.
    public let maximumSharedRequests: Int
    /// The maximum number of calls that share one request. A further call starts another request. The default is 1,000.
    /// With 1 or less, no requests are shared.
    public let maximumCallsPerRequest: Int

    /// Creates limits for the responses in memory. The properties state the defaults.
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
