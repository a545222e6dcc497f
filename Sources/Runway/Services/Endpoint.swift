public import HTTPTypes

/// One API of a service. Its static members describe the API, its stored properties are the parameters of one call.
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
/// Stored properties become parameters by the synthesised `Encodable` conformance: `CodingKeys` rename them, `nil`
/// omits them, ``Unencoded`` marks those that belong to the path or the body instead.
public protocol Endpoint: EndpointDeclarations, Encodable, Sendable {
    /// The service that the API belongs to.
    associatedtype Service: APIService

    /// The service that the API belongs to. The default is ``Service``; a protocol can name the service once for all
    /// endpoints:
    ///
    /// ```swift
    /// protocol ListingsEndpoint: Endpoint where Service == Listings {}
    /// ```
    static var service: Service.Type { get }
    /// The name of the API, as records, metrics and errors show it. The default is the name of the type.
    static var name: String { get }
    /// The HTTP method. The default is GET.
    static var method: HTTPRequest.Method { get }
    /// The part of the request in which the parameters are encoded. The default is the query for GET, HEAD and DELETE,
    /// and JSON for other methods.
    static var encoding: ParameterEncoding { get }
    /// The policy for a second call of one manager while the first is in flight. The default is
    /// ``OverlapPolicy/joinOrReplace``.
    static var overlap: OverlapPolicy { get }
    /// The longest time from `load` to the landing of a call. The default, `nil`, is the service's.
    static var deadline: Duration? { get }
    /// Whether responses are cached, where, and for how long. The default is ``CachePolicy/off``.
    static var cache: CachePolicy { get }
    /// The kind of response, which selects a budget of the cache. The default is ``CacheKind/standard``, the common
    /// budget of all endpoints without a kind of their own.
    static var cacheKind: CacheKind { get }
    /// The failures that cause a further attempt, and the backoff before it. The default is ``RetryPolicy/standard``.
    static var retry: RetryPolicy { get }
    /// Whether a slow read gets a second attempt beside the first. The default is the service's.
    static var hedging: HedgingPolicy { get }
    /// Whether every call has an `Idempotency-Key`, the same for all its attempts, by which the server recognises a
    /// request that it has seen. A POST or PATCH with a key may be sent again. The default is `false`, since the server
    /// has to support keys.
    static var sendsIdempotencyKey: Bool { get }
    /// Whether calls are stored and sent later if there is no network or the server is down. The default is
    /// ``OfflinePolicy/off``.
    static var offline: OfflinePolicy { get }
    /// Whether identical reads that are in flight at the same time share one request. The default is `true`.
    ///
    /// Only reads by GET, HEAD and QUERY are shared, and by POST if its responses are cached by time or until evicted.
    /// Their URL, header fields, body, account and cache directives must be equal, and their responses must not be
    /// streamed.
    static var coalesces: Bool { get }
    /// Whether requests may be merged with others into one, if the service merges; see ``MergePolicy``. The default is
    /// `true`. Requests with streamed bodies or responses are never merged.
    static var isMergeable: Bool { get }
    /// The priority of calls when there are more calls than concurrency slots. The default is ``CallPriority/normal``.
    static var priority: CallPriority { get }
    /// Whether calls carry the access token of the service. The default is the service's.
    static var authorization: AuthorizationPolicy { get }
    /// Whether an interrupted upload of a file continues at the server's offset. The default is
    /// ``UploadResumption/off``.
    static var uploadResumption: UploadResumption { get }
    /// The largest response, in bytes, that is collected in memory. The default is 16 MiB.
    static var maximumResponseByteCount: Int { get }

    /// The path below the service's base URL.
    var path: EndpointPath { get }
    /// The parameters of this call. The default is the stored properties.
    ///
    /// - Throws: Any error; the call fails as ``NetworkError/Kind/invalidParameters``.
    var parameters: Parameters { get throws }
    /// Header fields of this call; an illegal name or value fails it as ``NetworkError/Kind/invalidParameters``.
    /// The default is empty.
    var headers: [String: String] { get }
    /// The body of this call, for the encoding ``ParameterEncoding/raw(contentType:)``. The default is empty.
    ///
    /// - Throws: Any error, for example because a file does not exist.
    var content: RequestBody { get throws }
    /// The parts of the form in addition to the parameters, for the encoding ``ParameterEncoding/multipart(_:)``. The
    /// default is empty.
    ///
    /// - Throws: Any error, for example because a file does not exist.
    var parts: [FormPart] { get throws }
    /// The stored responses that this call makes outdated, if it changes data. The default is empty.
    ///
    /// Used for calls of methods that are not safe (RFC 9110 §9.2.1), such as POST, PUT, PATCH and DELETE. When the
    /// response has arrived, and before it lands, the named responses are removed from memory and disk, under any
    /// policy. Responses to reads that started before then are not stored, and no later read shares their requests. A
    /// failed call removes nothing, unless it may have taken effect: its response was lost, was invalid or had a status
    /// of 500 or more, or it was cancelled after it was sent.
    var invalidates: [CacheInvalidation] { get }

    /// Names of the things that the call changes, for a call that is stored while there is no network. The default is
    /// empty.
    ///
    /// Calls with a common name are sent one after the other. If the server refuses one for ever, the later ones are
    /// held: the comment on a note is not sent before the note exists. Names are compared among the calls of one
    /// service and account.
    var offlineSubjects: [String] { get }

    /// Completes the parameters before interceptors see them. The default changes nothing.
    ///
    /// - Throws: Any error; the call fails as ``NetworkError/Kind/invalidParameters``.
    mutating func complete() throws
    /// Checks the parameters, after interceptors changed them. The default accepts all.
    ///
    /// - Throws: The problem with the parameters; the call fails as ``NetworkError/Kind/invalidParameters`` and no
    ///   request is sent. See ``NetworkError/detail`` for the part of the error that records show.
    func validate() throws
    /// Validates a response that the service accepted. The default accepts every response. Called off the main actor.
    ///
    /// - Throws: The problem with the response; the call fails as ``NetworkError/Kind/invalidResponse``. See
    ///   ``NetworkError/detail`` for the part of the error that records show.
    func validate(response: RawData) throws
    /// Called before a success of this call lands, and before the interceptors'
    /// ``Interceptor/beforeSuccess(_:of:by:)``. The default lets it land.
    ///
    /// Use it for effects that belong to this API, for every caller; an ``Interceptor`` is for effects of the app or of
    /// a screen. Called once for each landing: on the main actor for a call of a manager, for other calls off any actor
    /// or where the call was made. A prefetch does not land.
    ///
    /// - Returns: Whether the success may land. If `false`, the call ends as ``FlightOutcome/vetoed``: a manager's
    ///   delegate is not notified, and ``NetworkLayer/call(_:options:)`` throws ``NetworkError/Kind/cancelled``.
    func beforeSuccess(_ rawData: RawData) -> Bool
    /// Called before a failure of this call lands, and before the interceptors'
    /// ``Interceptor/beforeFailure(_:of:by:)``. By default the failure lands. Not called for a call that was cancelled,
    /// replaced or vetoed, nor for an error that the service absorbs.
    ///
    /// - Returns: Whether the failure may land; see ``beforeSuccess(_:)``.
    func beforeFailure(_ error: NetworkError) -> Bool
}

extension Endpoint {
    /// The service of the type.
    public static var service: Service.Type { Service.self }
    /// The name of the type.
    ///
    /// Taken from the runtime without a detour through reflection, which takes longer than a hit in memory.
    public static var name: String { _typeName(Self.self, qualified: false) }
    /// GET.
    public static var method: HTTPRequest.Method { .get }
    /// The query for GET, HEAD and DELETE, JSON for other methods.
    public static var encoding: ParameterEncoding {
        let method = method
        return method == .get || method == .head || method == .delete ? .query() : .json()
    }
    /// ``OverlapPolicy/joinOrReplace``.
    public static var overlap: OverlapPolicy { .joinOrReplace }
    /// The service's deadline.
    public static var deadline: Duration? { nil }
    /// ``CachePolicy/off``: no responses are cached.
    public static var cache: CachePolicy { .off }
    /// ``CacheKind/standard``.
    public static var cacheKind: CacheKind { .standard }
    /// ``RetryPolicy/standard``.
    public static var retry: RetryPolicy { .standard }
    /// The service's policy.
    public static var hedging: HedgingPolicy { Service.hedging }
    /// `false`: calls have no key.
    public static var sendsIdempotencyKey: Bool { false }
    /// Calls fail while there is no network.
    public static var offline: OfflinePolicy { .off }
    /// Identical reads share one request.
    public static var coalesces: Bool { true }
    /// `true`: requests may be merged.
    public static var isMergeable: Bool { true }
    /// ``CallPriority/normal``.
    public static var priority: CallPriority { .normal }
    /// The service's policy.
    public static var authorization: AuthorizationPolicy { Service.authorization }
    /// An interrupted upload starts over.
    public static var uploadResumption: UploadResumption { .off }
    /// 16 MiB.
    public static var maximumResponseByteCount: Int { 16 << 20 }

    /// The stored properties.
    public var parameters: Parameters { get throws { try Parameters(of: self) } }
    /// No header fields.
    public var headers: [String: String] { [:] }
    /// An empty body.
    public var content: RequestBody { .none }
    /// No parts.
    public var parts: [FormPart] { [] }
    /// No responses.
    public var invalidates: [CacheInvalidation] { [] }

    /// No names.
    public var offlineSubjects: [String] { [] }

    /// Changes nothing.
    public func complete() {}
    /// Accepts all parameters.
    public func validate() {}
    /// Accepts all responses.
    public func validate(response: RawData) {}
    /// Returns `true`: the success lands.
    public func beforeSuccess(_ rawData: RawData) -> Bool { true }
    /// Returns `true`: the failure lands.
    public func beforeFailure(_ error: NetworkError) -> Bool { true }
}
