import struct Foundation.UUID

/// Settings of one call that override those of its endpoint.
///
/// ```swift
/// rentals.load(RentalList(city: "上海"), options: CallOptions(cacheUse: .refresh))
/// ```
public struct CallOptions: Sendable, Hashable {
    /// No setting is overridden.
    public static let standard = CallOptions()

    /// The cache policy of this call. The default, `nil`, is its endpoint's.
    public var cache: CachePolicy?
    /// The use of stored responses by the call. The default, ``CacheUse/standard``, follows the call's policy.
    public var cacheUse: CacheUse
    /// The retry policy of this call. The default, `nil`, is its endpoint's.
    public var retry: RetryPolicy?
    /// The priority of this call. The default, `nil`, is its endpoint's.
    public var priority: CallPriority?
    /// Whether this call carries the access token of the service. The default, `nil`, is its endpoint's policy.
    ///
    /// A public path of a service with ``APIService/credentials`` is read without a login, for example by
    /// ``APIService/get(_:_:)``:
    ///
    /// ```swift
    /// let news = try await network.call(
    ///     Listings.get("news"), options: CallOptions(authorization: AuthorizationPolicy.none))
    /// ```
    ///
    /// Its response is stored separately from responses to calls with the token.
    /// ``NetworkLayer/exchange(_:with:options:)`` never adds a token.
    public var authorization: AuthorizationPolicy?
    /// Whether the call waits for a network, until its deadline, if the device has none. The default is `false`: it
    /// fails at once.
    public var waitsForNetwork: Bool
    /// The longest time for the whole call, from its start to the last byte of its body. The default, `nil`, is no such
    /// bound.
    ///
    /// The call ends at this limit or at its own deadline, whichever comes first. The deadline covers less: only the
    /// head of a streamed response, and only the time between two bytes of a download or an upload.
    public var wholeDeadline: Duration?
    /// The deadline of this call, instead of its endpoint's or service's. The default, `nil`, uses theirs.
    ///
    /// Like theirs it limits the time to the landing or, for a streamed response, to its head, and the time without a
    /// byte of a download or an upload. It is counted from `load`; more than a year counts as a year.
    public var deadline: Duration?
    /// Header fields of this call, which replace those of its endpoint and service with the same name. The default is
    /// empty.
    ///
    /// Records redact them by their names like any other header field (``Redaction``), and those that may authenticate
    /// do not follow a redirect to another origin. They are part of the identity of a call, and of a response that is
    /// stored for a time to live; under ``CachePolicy/http(onDisk:)`` only those count that authenticate
    /// (``APIService/authenticatingFields``) or that the `Vary` of a response names. Fields that a stage sets, such as
    /// the token of ``Credentials``, replace them.
    public var headers: [String: String]
    /// Whether the call is sent although the circuit of its host or endpoint is open: for a call that the user
    /// requested, such as a pull to refresh. The default is `false`. The guard against endless loops counts it like any
    /// other call (``AdmissionLimits``). If it joins a call in flight, that call is sent despite the circuit, too.
    public var bypassesCircuit: Bool

    /// Whether the streamed body stays open for as long as the app wants, so that it releases its concurrency slot, and
    /// the system's time in the background, when the head of the response has arrived.
    package var isLongLived = false
    /// The call that this one resumes; `nil` if it resumes none.
    var resumption: Resumption?
    /// The stored change that the call sends; `nil` for every other call.
    var replayedChange: UUID?
    /// Whether no stale response lands before the fresh one. For code that makes calls through a manager and can use
    /// only one landing.
    var landsOnce = false

    /// These options, at low priority unless one is set: for requests that no caller waits for.
    var forBackgroundFlight: CallOptions {
        var options = self
        options.priority = priority ?? .low
        return options
    }

    /// Creates settings of one call that override those of its endpoint.
    ///
    /// - Parameters:
    ///   - cache: The cache policy of this call. The default, `nil`, is its endpoint's.
    ///   - cacheUse: The use of stored responses by the call. The default follows its policy.
    ///   - retry: The retry policy of this call. The default, `nil`, is its endpoint's.
    ///   - priority: The priority of this call. The default, `nil`, is its endpoint's.
    ///   - authorization: Whether this call carries the access token of the service. The default, `nil`, is its
    ///     endpoint's policy.
    ///   - waitsForNetwork: Whether the call waits for a network if the device has none. The default is `false`.
    ///   - wholeDeadline: The longest time for the whole call, including streamed bodies. The default, `nil`, is no
    ///     such bound.
    ///   - deadline: The deadline of this call. The default, `nil`, is its endpoint's or its service's.
    ///   - headers: Header fields of this call, which replace those of its endpoint and service. The default is empty.
    ///   - bypassesCircuit: Whether the call is sent although the circuit of its host or endpoint is open. The default
    ///     is `false`.
    public init(
        cache: CachePolicy? = nil, cacheUse: CacheUse = .standard, retry: RetryPolicy? = nil,
        priority: CallPriority? = nil, authorization: AuthorizationPolicy? = nil, waitsForNetwork: Bool = false,
        wholeDeadline: Duration? = nil,
        deadline: Duration? = nil, headers: [String: String] = [:], bypassesCircuit: Bool = false
    ) {
        self.cache = cache
        self.cacheUse = cacheUse
        self.retry = retry
        self.priority = priority
        self.authorization = authorization
        self.waitsForNetwork = waitsForNetwork
        self.wholeDeadline = wholeDeadline
        self.deadline = deadline
        self.headers = headers
        self.bypassesCircuit = bypassesCircuit
    }
}
