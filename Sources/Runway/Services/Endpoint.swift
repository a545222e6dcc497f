public import HTTPTypes

/// Describes one endpoint of a service. The static members are its settings, and the stored properties are the
/// parameters of one call.
///
/// ```swift
/// struct RentalList: Endpoint {
///     static let service = Listings.self
///     static let overlap = OverlapPolicy.cancelRunning
///
///     var path: EndpointPath { "rental/list" }
///     var city: String
///     var priceBelow: Int?
/// }
/// ```
///
/// Stored properties become parameters through the synthesised `Encodable` conformance. `CodingKeys` rename them, and a
/// property that is `nil` is omitted. ``Unencoded`` marks a property that belongs to the path or the body instead.
public protocol Endpoint: EndpointDeclarations, Encodable, Sendable {
    /// The service that the endpoint belongs to.
    associatedtype Service: APIService

    /// The service that the endpoint belongs to. The default is ``Service``. A protocol can state the service once for
    /// all endpoints:
    ///
    /// ```swift
    /// protocol ListingsEndpoint: Endpoint where Service == Listings {}
    /// ```
    static var service: Service.Type { get }
    /// The name of the endpoint in records, metrics and errors. The default is the name of the type.
    static var name: String { get }
    /// The HTTP method. The default is GET.
    static var method: HTTPRequest.Method { get }
    /// The part of the request that contains the parameters. The default is the query for GET, HEAD and DELETE, and
    /// JSON for other methods.
    static var encoding: ParameterEncoding { get }
    /// The policy for a second call of a manager while its first is in flight. The default is
    /// ``OverlapPolicy/joinOrReplace``.
    static var overlap: OverlapPolicy { get }
    /// The maximum time from `load` to the delivery of a call's result. The default, `nil`, is the service's deadline.
    static var deadline: Duration? { get }
    /// Determines whether responses are cached, where, and for how long. The default is ``CachePolicy/off``.
    static var cache: CachePolicy { get }
    /// The kind of response, which selects a budget of the cache. The default is ``CacheKind/standard``, the shared
    /// budget of all endpoints without their own kind.
    static var cacheKind: CacheKind { get }
    /// Determines which failures cause a further attempt, and the backoff before it. The default is
    /// ``RetryPolicy/standard``.
    static var retry: RetryPolicy { get }
    /// Determines whether a slow read gets a second, parallel attempt. The default is the service's policy.
    static var hedging: HedgingPolicy { get }
    /// Whether every call has an `Idempotency-Key`, equal in all its attempts. The server uses it to recognise a
    /// request that it has already seen, so a POST or PATCH with a key may be sent again. The default is `false`,
    /// because the server must support keys.
    static var sendsIdempotencyKey: Bool { get }
    /// Determines whether calls are stored and sent later if there is no network or the server is down. The default is
    /// ``OfflinePolicy/off``.
    static var offline: OfflinePolicy { get }
    /// Whether identical reads that are in flight at the same time share one request. The default is `true`.
    ///
    /// Reads with GET, HEAD and QUERY are shared. POST is shared if its responses are cached by time or until evicted.
    /// URL, header fields, body, account and cache directives must be equal, and the responses must not be streamed.
    static var coalesces: Bool { get }
    /// Whether requests may be merged with others into one, if the service merges requests; see ``MergePolicy``. The
    /// default is `true`. Requests with streamed bodies or responses are never merged.
    static var isMergeable: Bool { get }
    /// The priority of calls that wait for a concurrency slot. The default is ``CallPriority/normal``.
    static var priority: CallPriority { get }
    /// Determines whether calls carry the access token of the service. The default is the service's policy.
    static var authorization: AuthorizationPolicy { get }
    /// Determines whether an interrupted upload of a file continues at the server's offset. The default is
    /// ``UploadResumption/off``.
    static var uploadResumption: UploadResumption { get }
    /// The maximum size of a response that is collected in memory, in bytes. The default is 16 MiB.
    static var maximumResponseByteCount: Int { get }

    /// The path relative to the service's base URL.
    var path: EndpointPath { get }
    /// The parameters of this call. The default is the stored properties.
    ///
    /// - Throws: Any error. The call then fails as ``NetworkError/Kind/invalidParameters``.
    var parameters: Parameters { get throws }
    /// Header fields of this call. An invalid name or value makes the call fail as
    /// ``NetworkError/Kind/invalidParameters``. The default is empty.
    var headers: [String: String] { get }
    /// The body of this call, used with the encoding ``ParameterEncoding/raw(contentType:)``. The default is empty.
    ///
    /// - Throws: Any error, for example because a file does not exist.
    var content: RequestBody { get throws }
    /// The parts of the form in addition to the parameters, used with the encoding ``ParameterEncoding/multipart(_:)``.
    /// The default is empty.
    ///
    /// - Throws: Any error, for example because a file does not exist.
    var parts: [FormPart] { get throws }
    /// The stored responses that this call invalidates, if it changes data. The default is empty.
    ///
    /// Used for calls with an unsafe method (RFC 9110 §9.2.1), such as POST, PUT, PATCH and DELETE. When the response
    /// has arrived, and before it is delivered, these stored responses are removed from memory and disk, under any
    /// cache policy. Responses to reads that started earlier are not stored, and no later read shares their requests.
    ///
    /// A failed call removes nothing unless it may have taken effect: its response was lost, was invalid or had a
    /// status of 500 or more, or the call was cancelled after it was sent.
    var invalidates: [CacheInvalidation] { get }

    /// The names of the objects that the call changes, for a call that is stored while there is no network. The default
    /// is empty.
    ///
    /// Calls that name the same object are sent one after the other. If the server permanently refuses one, the later
    /// ones are held. For example, a comment on a note is not sent before the note exists. Names are compared among the
    /// calls of one service and account.
    var offlineSubjects: [String] { get }

    /// Completes the parameters before interceptors receive them. The default changes nothing.
    ///
    /// - Throws: Any error. The call then fails as ``NetworkError/Kind/invalidParameters``.
    mutating func complete() throws
    /// Checks the parameters after interceptors have changed them. The default accepts all parameters.
    ///
    /// - Throws: The problem with the parameters. The call then fails as ``NetworkError/Kind/invalidParameters`` and no
    ///   request is sent. For the part of the problem that appears in records, see ``NetworkError/detail``.
    func validate() throws
    /// Validates a response that the service has accepted. The default accepts every response. Called off the main
    /// actor.
    ///
    /// - Throws: The problem with the response. The call then fails as ``NetworkError/Kind/invalidResponse``. For the
    ///   part of the problem that appears in records, see ``NetworkError/detail``.
    func validate(response: RawData) throws
    /// Called before the response of a successful call is delivered, and before ``Interceptor/beforeSuccess(_:of:by:)``
    /// of the interceptors. The default allows the delivery.
    ///
    /// Use it for effects that belong to this endpoint, whoever calls it. Use an ``Interceptor`` for effects of the app
    /// or of a screen. Called once for each delivered response. For a call of a manager it is called on the main actor;
    /// for other calls off any actor, or where the call was made. Not called for a prefetch, which delivers no
    /// response.
    ///
    /// - Returns: Whether the response may be delivered. If `false`, the call ends as ``FlightOutcome/vetoed``: a
    ///   manager's delegate is not notified, and ``NetworkLayer/call(_:options:)`` throws
    ///   ``NetworkError/Kind/cancelled``.
    func beforeSuccess(_ rawData: RawData) -> Bool
    /// Called before the error of a failed call is delivered, and before ``Interceptor/beforeFailure(_:of:by:)`` of the
    /// interceptors. The default allows the delivery. Not called if the call was cancelled, replaced or vetoed, or if
    /// the error does not concern business code (``FlightOutcome/Kind/absorbed``).
    ///
    /// - Returns: Whether the error may be delivered; see ``beforeSuccess(_:)``.
    func beforeFailure(_ error: NetworkError) -> Bool
}

extension Endpoint {
    /// The service that the endpoint type belongs to.
    public static var service: Service.Type { Service.self }
    /// The name of the type, the default.
    ///
    /// The name is read directly from the runtime, because reflection takes longer than a cache hit in memory.
    public static var name: String { _typeName(Self.self, qualified: false) }
    /// GET, the default.
    public static var method: HTTPRequest.Method { .get }
    /// The default: the query for GET, HEAD and DELETE, and JSON for other methods.
    public static var encoding: ParameterEncoding {
        let method = method
        return method == .get || method == .head || method == .delete ? .query() : .json()
    }
    /// ``OverlapPolicy/joinOrReplace``, the default.
    public static var overlap: OverlapPolicy { .joinOrReplace }
    /// `nil`, the default: the service's deadline applies.
    public static var deadline: Duration? { nil }
    /// ``CachePolicy/off``, the default: no responses are cached.
    public static var cache: CachePolicy { .off }
    /// ``CacheKind/standard``, the default.
    public static var cacheKind: CacheKind { .standard }
    /// ``RetryPolicy/standard``, the default.
    public static var retry: RetryPolicy { .standard }
    /// The service's policy, the default.
    public static var hedging: HedgingPolicy { Service.hedging }
    /// `false`, the default: calls have no key.
    public static var sendsIdempotencyKey: Bool { false }
    /// ``OfflinePolicy/off``, the default: calls fail while there is no network.
    public static var offline: OfflinePolicy { .off }
    /// `true`, the default: identical reads share one request.
    public static var coalesces: Bool { true }
    /// `true`, the default: requests may be merged.
    public static var isMergeable: Bool { true }
    /// ``CallPriority/normal``, the default.
    public static var priority: CallPriority { .normal }
    /// The service's policy, the default.
    public static var authorization: AuthorizationPolicy { Service.authorization }
    /// ``UploadResumption/off``, the default: an interrupted upload starts over.
    public static var uploadResumption: UploadResumption { .off }
    /// 16 MiB, the default.
    public static var maximumResponseByteCount: Int { 16 << 20 }

    /// The stored properties as parameters, the default.
    public var parameters: Parameters { get throws { try Parameters(of: self) } }
    /// Empty, the default: the call has no header fields of its own.
    public var headers: [String: String] { [:] }
    /// Empty, the default: the call has no body.
    public var content: RequestBody { .none }
    /// Empty, the default: the form has no further parts.
    public var parts: [FormPart] { [] }
    /// Empty, the default: the call invalidates no responses.
    public var invalidates: [CacheInvalidation] { [] }

    /// Empty, the default: the call names no objects.
    public var offlineSubjects: [String] { [] }

    /// Changes nothing: the default implementation.
    public func complete() {}
    /// Accepts all parameters: the default implementation.
    public func validate() {}
    /// Accepts all responses: the default implementation.
    public func validate(response: RawData) {}
    /// Returns `true`, so the response is delivered: the default implementation.
    public func beforeSuccess(_ rawData: RawData) -> Bool { true }
    /// Returns `true`, so the error is delivered: the default implementation.
    public func beforeFailure(_ error: NetworkError) -> Bool { true }
}
