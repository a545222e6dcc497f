import struct Foundation.UUID

/// Settings of one call that override those of its endpoint.
///
/// ```swift
/// rentals.load(RentalList(city: "上海"), options: CallOptions(cacheUse: .refresh))
/// ```
public struct CallOptions: Sendable, Hashable {
    /// Options that override no setting of the endpoint.
    public static let standard = CallOptions()

    /// The cache policy of this call. The default, `nil`, is its endpoint's policy.
    public var cache: CachePolicy?
    /// Determines how the call uses stored responses. The default, ``CacheUse/standard``, follows the call's cache
    /// policy.
    public var cacheUse: CacheUse
    /// The retry policy of this call. The default, `nil`, is its endpoint's policy.
    public var retry: RetryPolicy?
    /// The priority of this call. The default, `nil`, is its endpoint's priority.
    public var priority: CallPriority?
    /// Determines whether this call carries the service's access token. The default, `nil`, is its endpoint's policy.
    ///
    /// For example, read a public path of a service that has ``APIService/credentials`` without a login, here with
    /// ``APIService/get(_:_:)``:
    ///
    /// ```swift
    /// let news = try await network.call(
    ///     Listings.get("news"), options: CallOptions(authorization: AuthorizationPolicy.none))
    /// ```
    ///
    /// The response is stored separately from responses to calls with the token.
    /// ``NetworkLayer/exchange(_:with:options:)`` never adds a token.
    public var authorization: AuthorizationPolicy?
    /// Whether the call waits for a network, until its deadline, if the device has none. The default is `false`: the
    /// call fails at once.
    public var waitsForNetwork: Bool
    /// The maximum time for the whole call, from its start to the last byte of its body. The default, `nil`, sets no
    /// such limit.
    ///
    /// The call ends at this limit or at its own deadline, whichever comes first. The deadline covers less: for a
    /// streamed response it ends when the header fields arrive, and for a download or an upload it covers only the time
    /// between two bytes.
    public var wholeDeadline: Duration?
    /// The deadline of this call. The default, `nil`, is its endpoint's or service's deadline.
    ///
    /// The deadline limits the time to the delivery of the result. For a streamed response it limits the time to the
    /// header fields, and for a download or an upload the time between two bytes. It is counted from `load`. More than
    /// a year counts as a year.
    public var deadline: Duration?
    /// Header fields of this call. They replace fields of its endpoint and service with the same name. The default is
    /// empty.
    ///
    /// Records redact these fields by their names, like all header fields (``Redaction``). Fields that may authenticate
    /// do not follow a redirect to another origin. Fields that a stage sets, such as the token of ``Credentials``,
    /// replace them.
    ///
    /// They are part of the identity of a call, and of a response that is stored for a time to live. Under
    /// ``CachePolicy/http(onDisk:)``, only authenticating fields (``APIService/authenticatingFields``) and fields named
    /// by the response's `Vary` count.
    public var headers: [String: String]
    /// Whether the call is sent even if the circuit of its host or endpoint is open. Use it for calls that the user
    /// requested, such as a pull to refresh. The default is `false`. The guard against endless loops still counts the
    /// call (``AdmissionLimits``). If the call joins a call in flight, that call also bypasses the circuit.
    public var bypassesCircuit: Bool

    /// Whether the streamed body stays open for as long as the app wants. Such a call releases its concurrency slot and
    /// its background time when the header fields of the response arrive.
    package var isLongLived = false
    /// The maximum size of this call's response if it is collected in memory, in bytes. The default, `nil`, is its
    /// endpoint's maximum.
    package var maximumResponseByteCount: Int?
    /// The failed call that this call resumes; `nil` if this call resumes no other call.
    var resumption: Resumption?
    /// The stored change that the call sends; `nil` for all other calls.
    var replayedChange: UUID?
    /// Whether only the fresh response is delivered, without a stale response before it. It is set by code that makes
    /// calls through a manager and can use only one response.
    var landsOnce = false

    /// These options, adapted to requests that no caller waits for: the priority is low unless it is set.
    var forBackgroundFlight: CallOptions {
        var options = self
        options.priority = priority ?? .low
        return options
    }

    /// Creates settings of one call that override the settings of its endpoint.
    ///
    /// - Parameters:
    ///   - cache: The cache policy of this call. The default, `nil`, is its endpoint's policy.
    ///   - cacheUse: Determines how the call uses stored responses. The default follows the cache policy.
    ///   - retry: The retry policy of this call. The default, `nil`, is its endpoint's policy.
    ///   - priority: The priority of this call. The default, `nil`, is its endpoint's priority.
    ///   - authorization: Determines whether this call carries the service's access token. The default, `nil`, is its
    ///     endpoint's policy.
    ///   - waitsForNetwork: Whether the call waits for a network if the device has none. The default is `false`.
    ///   - wholeDeadline: The maximum time for the whole call, including streamed bodies. The default, `nil`, sets no
    ///     such limit.
    ///   - deadline: The deadline of this call. The default, `nil`, is its endpoint's or its service's deadline.
    ///   - headers: Header fields of this call, which replace those of its endpoint and service. The default is empty.
    ///   - bypassesCircuit: Whether the call is sent even if the circuit of its host or endpoint is open. The default
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
