/// The bounds of everything that the calls of a ``NetworkLayer`` share.
///
/// ```swift
/// let network = NetworkLayer(
///     transport: transport, limits: LayerLimits(cache: CacheLimits(maximumCount: 200), retrying: .none))
/// ```
public struct LayerLimits: Sendable, Hashable {
    /// How many responses are cached in memory by the client's own rules. The default is 1,000, of 32 MiB together.
    public var cache: CacheLimits
    /// How many responses are cached by the rules of HTTP caching. The default is 1,000 targets and 32 MiB.
    public var httpCache: HTTPCacheLimits
    /// How many requests can be shared at a time, and by how many calls each. The default is 1,000 of either.
    public var coalescing: CoalescingLimits
    /// How many calls are in flight at once, and which calls are refused. The default is 64 calls at once.
    public var admission: AdmissionLimits
    /// How many retries are sent to a host. The default is one for every ten calls, and ten more.
    public var retrying: RetryLimits
    /// How many hedged requests are sent to a host. The default is one for every twenty reads, and five more.
    public var hedging: HedgeLimits
    /// How many calls wait for a token. The default is 1,000.
    public var authorizing: AuthorizingLimits

    /// Creates limits; see the properties for the defaults.
    public init(
        cache: CacheLimits = CacheLimits(), httpCache: HTTPCacheLimits = HTTPCacheLimits(),
        coalescing: CoalescingLimits = CoalescingLimits(), admission: AdmissionLimits = AdmissionLimits(),
        retrying: RetryLimits = RetryLimits(), hedging: HedgeLimits = HedgeLimits(),
        authorizing: AuthorizingLimits = AuthorizingLimits()
    ) {
        self.cache = cache
        self.httpCache = httpCache
        self.coalescing = coalescing
        self.admission = admission
        self.retrying = retrying
        self.hedging = hedging
        self.authorizing = authorizing
    }
}
