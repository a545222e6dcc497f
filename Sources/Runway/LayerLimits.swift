/// The bounds of everything that the calls of a ``NetworkLayer`` share.
///
/// ```swift
/// let network = NetworkLayer(
///     transport: transport, limits: LayerLimits(cache: CacheLimits(maximumCount: 200), retrying: .none))
/// ```
public struct LayerLimits: Sendable, Hashable {
    /// How many responses are cached in memory, and how many requests are shared. The default is 1,000 responses of 32
    /// MiB together by the client's own rules, as many by those of HTTP caching, and 1,000 requests.
    public var cache: CacheLimits
    /// How many calls are in flight at once, and which calls are refused. The default is 64 calls at once.
    public var admission: AdmissionLimits
    /// How many retries are sent to a host. The default is one for every ten calls, and ten more.
    public var retrying: AttemptLimits
    /// How many hedged requests are sent to a host. The default is one for every twenty reads, and five more.
    public var hedging: AttemptLimits
    /// The most calls that wait for one renewal of an access token; one more fails as ``NetworkError/Kind/overloaded``.
    /// The default is 1,000; at least 1. Calls that share a request count once.
    public var maximumCallsPerRenewal: Int
    /// The most accounts whose access tokens are in memory at a time; other tokens are loaded again. The default is
    /// 100; at least 1.
    public var maximumAccounts: Int
    /// The longest wait for the ``TokenStore``. The default is 10 s; a negative time counts as zero.
    ///
    /// If the store has not loaded a token by then, the calls that need it fail as ``NetworkError/Kind/storage``. If it
    /// has not stored or removed one, the sign-in or sign-out throws that; a renewal continues, since the token in
    /// memory is the one that counts.
    public var tokenStoreDeadline: Duration
    /// How long after its failure a call can be resumed, see ``NeedsLogin/resume()``. The default is 10 minutes.
    public var resumptionTime: Duration
    /// The most calls that can be resumed; the one that failed first is removed. The default is 100; with 0 no call can
    /// be resumed.
    public var maximumResumableCalls: Int

    /// Bounds what the calls of a layer share; see the properties for the defaults.
    public init(
        cache: CacheLimits = CacheLimits(), admission: AdmissionLimits = AdmissionLimits(),
        retrying: AttemptLimits = .retrying, hedging: AttemptLimits = .hedging, maximumCallsPerRenewal: Int = 1000,
        maximumAccounts: Int = 100, tokenStoreDeadline: Duration = .seconds(10),
        resumptionTime: Duration = .seconds(600), maximumResumableCalls: Int = 100
    ) {
        self.cache = cache
        self.admission = admission
        self.retrying = retrying
        self.hedging = hedging
        self.maximumCallsPerRenewal = maximumCallsPerRenewal
        self.maximumAccounts = maximumAccounts
        self.tokenStoreDeadline = tokenStoreDeadline
        self.resumptionTime = resumptionTime
        self.maximumResumableCalls = maximumResumableCalls
    }
}
