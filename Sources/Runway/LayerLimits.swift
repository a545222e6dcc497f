/// The limits of all resources that the calls of a ``NetworkLayer`` share.
///
/// ```swift
/// let network = NetworkLayer(
///     transport: transport, limits: LayerLimits(cache: CacheLimits(maximumCount: 200), retrying: .none))
/// ```
///
/// The following limits are the same for every layer:
///
/// - The ``TokenStore`` must respond within 10 s. Otherwise calls that need a token fail as
///   ``NetworkError/Kind/storage``. The tokens of 100 accounts are in memory; the tokens of other accounts are loaded
///   again when they are needed.
/// - At most 1,000 calls wait for one renewal of an access token. Further calls fail as
///   ``NetworkError/Kind/overloaded``.
/// - A call can be resumed (``NeedsLogin/resume()``) for 10 minutes after its failure. At most 100 calls can be
///   resumed. Beyond that, the call whose failure is oldest can't.
public struct LayerLimits: Sendable, Hashable {
    /// A failed call can be resumed for this time; see ``NeedsLogin/resume()``.
    static let resumptionTime = Duration.seconds(600)
    /// The maximum number of calls that can be resumed. If another call fails, the call whose failure is oldest is
    /// removed.
    static let maximumResumableCalls = 100

    /// Limits for responses cached in memory and for shared requests. The default is 1,000 responses and 32 MiB under
    /// the client's own cache rules, another 1,000 responses and 32 MiB under HTTP caching, and 1,000 shared requests.
    public var cache: CacheLimits
    /// Limits for calls in flight, and rules for refusing calls. The default allows 64 calls at once.
    public var admission: AdmissionLimits
    /// Limits for the retries to each host. The default is one retry for every ten calls, and a reserve of ten retries.
    public var retrying: AttemptLimits
    /// Limits for the hedged requests to each host. The default is one hedge for every twenty reads, and a reserve of
    /// five hedges.
    public var hedging: AttemptLimits

    /// The maximum wait for the ``TokenStore``.
    ///
    /// If the store has not loaded a token in time, the calls that need it fail as ``NetworkError/Kind/storage``. If
    /// the store has not stored or removed a token in time, the sign-in or sign-out throws the same error. A renewal
    /// continues, since the token in memory takes precedence.
    package var tokenStoreDeadline = Duration.seconds(10)
    /// The maximum number of calls that wait for one renewal of an access token; at least 1. Calls that share a request
    /// count once.
    package var maximumCallsPerRenewal = 1000
    /// The maximum number of accounts whose access tokens are in memory at the same time; at least 1.
    package var maximumAccounts = 100

    /// Creates limits for the resources that the calls of a layer share. The properties state the defaults.
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
