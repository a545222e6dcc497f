/// The limits of all resources that the calls of a ``NetworkLayer`` share.
///
/// ```swift
/// let network = NetworkLayer(
///     transport: transport, limits: LayerLimits(cache: CacheLimits(maximumCount: 200), retrying: .none))
/// ```
///
/// These are the same for every layer:
///
/// - The ``TokenStore`` has 10 s; after that, calls that need a token fail as ``NetworkError/Kind/storage``. The tokens
///   of 100 accounts are in memory; others are loaded again.
/// - At most 1,000 calls wait for one renewal of an access token; a further one fails as
///   ``NetworkError/Kind/overloaded``.
/// - A call can be resumed (``NeedsLogin/resume()``) for 10 minutes after its failure. At most 100 calls can be
///   resumed: of more, the one that failed first can't.
public struct LayerLimits: Sendable, Hashable {
    /// The time after its failure for which a call can be resumed, see ``NeedsLogin/resume()``.
    static let resumptionTime = Duration.seconds(600)
    /// The largest number of calls that can be resumed. Beyond it the call that failed first is removed.
    static let maximumResumableCalls = 100

    /// The responses that are cached in memory, and the requests that are shared. The default is 1,000 responses of
    /// together 32 MiB by the client's own rules, as many by those of HTTP caching, and 1,000 requests.
    public var cache: CacheLimits
    /// The calls that are in flight at once, and those that are refused. The default is 64 calls at once.
    public var admission: AdmissionLimits
    /// The retries that are sent to a host. The default is one for every ten calls, and ten more.
    public var retrying: AttemptLimits
    /// The hedged requests that are sent to a host. The default is one for every twenty reads, and five more.
    public var hedging: AttemptLimits

    /// The longest wait for the ``TokenStore``.
    ///
    /// If the store has not loaded a token by then, the calls that need it fail as ``NetworkError/Kind/storage``. If
    /// the store has not stored or removed a token, the sign-in or sign-out throws that error. A renewal continues,
    /// since the token in memory is the one that counts.
    package var tokenStoreDeadline = Duration.seconds(10)
    /// The most calls that wait for one renewal of an access token; at least 1. Calls that share a request count once.
    package var maximumCallsPerRenewal = 1000
    /// The most accounts whose access tokens are in memory at a time; at least 1.
    package var maximumAccounts = 100

    /// Limits the resources that the calls of a layer share; see the properties for the defaults.
    public init(
        cache: CacheLimits = CacheLimits(), admission: AdmissionLimits = AdmissionLimits(),
        retrying: AttemptLimits = .retrying, hedging: AttemptLimits = .hedging
    ) {
        self.cache = cache
        self.admission = admission
        self.retrying = retrying
        self.hedging = hedging
    }
}
