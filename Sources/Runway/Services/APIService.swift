public import HTTPTypes

/// One backend, run by one team: its address, the common parts of its APIs, and the judgement of its responses.
///
/// A service is a type that is never instantiated, best a caseless enum. Its static members are the description; values
/// that may change while the app runs (the environment, a common parameter) are in the ``ServiceSettings`` of each
/// ``NetworkLayer``, which start out as described here.
///
/// ```swift
/// enum Listings: APIService {
///     static let name = "listings"
///     static let environments: [ServiceEnvironment: String] = [
///         .development: "https://dev.example.com/v2", .release: "https://api.example.com/v2",
///     ]
/// }
/// ```
public protocol APIService: ServiceDeclarations, Sendable {
    /// The name of the service, as records, metrics and errors show it. The default is the name of the type.
    static var name: String { get }

    /// The base URL of each environment: scheme, host, an optional port and an optional path.
    ///
    /// A URL that can't be read is reported by the calls that need it, as ``NetworkError/Kind/invalidConfiguration``.
    static var environments: [ServiceEnvironment: String] { get }

    /// The environment that a layer starts with. The default is ``ServiceEnvironment/release``.
    static var initialEnvironment: ServiceEnvironment { get }

    /// Parameters of every call, encoded like the endpoint's own, which win if names are equal. The default is empty.
    static var commonParameters: Parameters { get }

    /// Returns further parameters of one call, such as the time or the user's position. The default returns none.
    ///
    /// Called once for each call, on the caller's actor, however many attempts and redirects the call has. It must
    /// return soon. If names are equal, the endpoint's parameters win over these, and these over ``commonParameters``.
    static func makeCommonParameters() -> Parameters

    /// The names of common parameters that say nothing about the response, such as the time of the call. The default is
    /// empty.
    ///
    /// Cache keys omit them, so that a call finds the response to an earlier one, and so does the comparison of calls
    /// under ``OverlapPolicy/joinOrReplace``. They are nevertheless part of a key that is derived from the request: for
    /// parameters in a multipart form or beside a raw body, in a style that writes dots, below a stage that changed the
    /// request, and under ``CachePolicy/http(onDisk:)``, whose key is the URL (RFC 9111 §2). Reads in flight share a
    /// request only if their URLs are equal.
    static var unkeyedParameters: Set<String> { get }

    /// Header fields of every call; the endpoint's win if names are equal. The default is empty.
    static var commonHeaders: [String: String] { get }

    /// The names of further request fields that identify the sender of a request, such as `X-Member`, in any case. The
    /// default is empty.
    ///
    /// Responses to requests in which they differ are stored apart from each other, records do not show them, and no
    /// redirect to another origin carries them. All that holds without being named of `Authorization`, `Cookie`, the
    /// fields that ``credentials`` set, and names that say a secret (``Redaction``), such as `X-API-Key`. Any other
    /// field costs no cached response: under ``CachePolicy/http(onDisk:)`` the `Vary` of a response names the fields
    /// that it depends on (RFC 9111 §4.1).
    static var authenticatingFields: Set<String> { get }

    /// The longest that a call may take from `load` to its landing, if its endpoint names no deadline. The default is
    /// 60 s.
    static var deadline: Duration { get }

    /// The policy that merges concurrent requests into one, if the server has a route for that. The default, `nil`,
    /// merges none.
    static var merging: MergePolicy? { get }
    /// The policy that compresses bodies of requests, if the server accepts that. The default, `nil`, compresses none.
    static var compression: CompressionPolicy? { get }
    /// Whether requests may go to any host without TLS, even by redirects; anyone on the path can then read and change
    /// them. The default is `false`: only to this machine itself, `localhost` and hosts below it (RFC 6761 §6.3),
    /// 127.0.0.0/8 and ::1. Other requests fail as ``NetworkError/Kind/invalidConfiguration`` before they are sent.
    static var allowsPlainHTTP: Bool { get }
    /// Whether requests to a host that has sent `Strict-Transport-Security` over TLS use TLS from then on, while the
    /// layer lives (RFC 6797). It matters only if ``allowsPlainHTTP`` is `true`. The default is `false`.
    static var remembersStrictTransport: Bool { get }
    /// Whether cookies are stored and sent. The default is ``CookiePolicy/off``.
    static var cookies: CookiePolicy { get }
    /// Whether slow reads get a second attempt, if their endpoint has no policy of its own. The default is
    /// ``HedgingPolicy/off``.
    static var hedging: HedgingPolicy { get }
    /// The rules by which calls carry an access token and renew it. The default, `nil`, is a service without access
    /// tokens.
    static var credentials: (any Credentials)? { get }
    /// Whether calls carry an access token, if their endpoint has no policy of its own. The default is
    /// ``AuthorizationPolicy/required`` if the service has ``credentials``, and otherwise ``AuthorizationPolicy/none``.
    static var authorization: AuthorizationPolicy { get }

    /// Returns the transport of this service in one layer. The default, `nil`, is the layer's own transport.
    static func makeTransport() -> (any Transport)?

    /// Judges a response by its status and envelope.
    ///
    /// Called off the main actor, once for every response from the network. The default is the verdict on the status,
    /// ``Verdict/init(status:headerFields:)``; an implementation usually starts from it:
    ///
    /// ```swift
    /// static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
    ///     let verdict = Verdict(status: head.status, headerFields: head.headerFields)
    ///     guard verdict == .fine, let rawData else { return verdict }
    ///     guard let code = rawData["code"].int else { return .malformed("\"code\" is missing.") }
    ///     return code == 0 ? .fine : .failed(ServiceError(code: "\(code)"), isAbsorbed: false)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - head: Status and header fields.
    ///   - rawData: The whole body; `nil` if the caller reads it as a stream.
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict
}

extension APIService {
    /// The name of the type.
    public static var name: String { String(describing: Self.self) }

    /// The release environment.
    public static var initialEnvironment: ServiceEnvironment { .release }

    /// No common parameters.
    public static var commonParameters: Parameters { [:] }

    /// No further parameters.
    public static func makeCommonParameters() -> Parameters { [:] }

    /// All parameters are part of cache keys.
    public static var unkeyedParameters: Set<String> { [] }

    /// No common header fields.
    public static var commonHeaders: [String: String] { [:] }

    /// No further fields.
    public static var authenticatingFields: Set<String> { [] }

    /// 60 seconds.
    public static var deadline: Duration { .seconds(60) }

    /// `nil`: no requests are merged.
    public static var merging: MergePolicy? { nil }
    /// `nil`: no bodies are compressed.
    public static var compression: CompressionPolicy? { nil }
    /// `false`: plain HTTP is allowed only to this machine itself.
    public static var allowsPlainHTTP: Bool { false }
    /// No host is stored.
    public static var remembersStrictTransport: Bool { false }
    /// No cookies.
    public static var cookies: CookiePolicy { .off }
    /// ``HedgingPolicy/off``: no reads are hedged.
    public static var hedging: HedgingPolicy { .off }
    /// No access tokens.
    public static var credentials: (any Credentials)? { nil }
    /// Required, if the service has credentials.
    public static var authorization: AuthorizationPolicy { credentials == nil ? .none : .required }

    /// Returns the layer's own transport.
    public static func makeTransport() -> (any Transport)? { nil }

    /// Returns the verdict on the status.
    public static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        Verdict(status: head.status, headerFields: head.headerFields)
    }
}
