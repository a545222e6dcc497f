public import HTTPTypes

/// Describes one backend: its base URLs, the common settings of its endpoints, and the way in which its responses are
/// judged.
///
/// A service is a type that is never instantiated, best an enum without cases. Its static members are the initial
/// settings. Values that may change while the app runs, such as the environment or a common parameter, are in the
/// ``ServiceSettings`` of each ``NetworkLayer``.
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
    /// The name of the service in records, metrics and errors. The default is the name of the type.
    static var name: String { get }

    /// The base URL of each environment: scheme, host, an optional port and an optional path.
    ///
    /// If a URL is malformed, the calls that need it fail as ``NetworkError/Kind/invalidConfiguration``.
    static var environments: [ServiceEnvironment: String] { get }

    /// The environment in which a layer starts. The default is ``ServiceEnvironment/release``.
    static var initialEnvironment: ServiceEnvironment { get }

    /// Parameters of every call. They are encoded like the endpoint's own parameters, which win if names are equal. The
    /// default is empty.
    static var commonParameters: Parameters { get }

    /// Returns further parameters for one call, such as the time or the user's position. The default returns none.
    ///
    /// Called once for each call on the caller's actor, regardless of attempts and redirects. It must return soon. If
    /// names are equal, the endpoint's parameters win over these, and these win over ``commonParameters``.
    static func makeCommonParameters() -> Parameters

    /// The names of common parameters that do not affect the response, such as the time of the call. The default is
    /// empty.
    ///
    /// Cache keys omit them, so that a call finds the response to an earlier call. ``OverlapPolicy/joinOrReplace``
    /// ignores them when it compares calls. Reads in flight still share a request only if their URLs are equal.
    ///
    /// The key is derived from the request, and includes them nevertheless, in these cases:
    ///
    /// - The parameters are in a multipart form, or combined with a raw body.
    /// - The parameters are in a style that writes dots.
    /// - A stage has changed the request.
    /// - The policy is ``CachePolicy/http(onDisk:)``, whose key is the URL (RFC 9111 §2).
    static var unkeyedParameters: Set<String> { get }

    /// Header fields of every call. The endpoint's fields win if names are equal. The default is empty.
    static var commonHeaders: [String: String] { get }

    /// The names of further request fields that identify the sender of a request, such as `X-Member`. Case does not
    /// matter. The default is empty.
    ///
    /// If such fields differ, responses are stored separately. Records do not show the fields, and no redirect to
    /// another origin carries them. The same always applies to `Authorization`, `Cookie`, the fields that
    /// ``credentials`` set, and names that indicate a secret (``Redaction``), such as `X-API-Key`.
    ///
    /// Other fields need not be listed: under ``CachePolicy/http(onDisk:)`` the `Vary` of a response names the fields
    /// that it depends on (RFC 9111 §4.1).
    static var authenticatingFields: Set<String> { get }

    /// The maximum time from `load` to the delivery of a call's result, if its endpoint sets no deadline. The default
    /// is 60 s.
    static var deadline: Duration { get }

    /// The policy for merging concurrent requests into one, if the server has a route for it. The default is `nil`: no
    /// requests are merged.
    static var merging: MergePolicy? { get }
    /// The policy for compressing request bodies, if the server accepts compressed bodies. The default is `nil`: no
    /// bodies are compressed.
    static var compression: CompressionPolicy? { get }
    /// Whether requests may go to any host without TLS, including redirects. Anyone on the network path can then read
    /// and change them. The default is `false`: plain HTTP is allowed only to this machine, that is `localhost` and
    /// hosts below it (RFC 6761 §6.3), 127.0.0.0/8 and ::1. Other requests fail as
    /// ``NetworkError/Kind/invalidConfiguration`` before they are sent.
    static var allowsPlainHTTP: Bool { get }
    /// Whether the layer respects `Strict-Transport-Security` (RFC 6797). If a host has sent this field over TLS, all
    /// later requests to the host use TLS while the layer exists. It has an effect only if ``allowsPlainHTTP`` is
    /// `true`. The default is `false`.
    static var remembersStrictTransport: Bool { get }
    /// Determines whether cookies are stored and sent. The default is ``CookiePolicy/off``.
    static var cookies: CookiePolicy { get }
    /// Determines whether slow reads get a second attempt, if their endpoint has no policy. The default is
    /// ``HedgingPolicy/off``.
    static var hedging: HedgingPolicy { get }
    /// The rules for carrying and renewing access tokens. The default is `nil`: the service uses no access tokens.
    static var credentials: (any Credentials)? { get }
    /// Determines whether calls carry an access token, if their endpoint has no policy. The default is
    /// ``AuthorizationPolicy/required`` if the service has ``credentials``, and otherwise ``AuthorizationPolicy/none``.
    static var authorization: AuthorizationPolicy { get }

    /// Returns the transport of this service for one layer. The default returns `nil`: the layer's transport is used.
    static func makeTransport() -> (any Transport)?

    /// Judges a response by its status and envelope.
    ///
    /// Called off the main actor, once for every response from the network. The default is the verdict that follows
    /// from the status (``Verdict/init(status:headerFields:)``). An implementation usually starts with that verdict:
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
    ///   - head: The status and header fields of the response.
    ///   - rawData: The whole response; `nil` if the caller reads the body as a stream.
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict
}

extension APIService {
    /// The name of the type, the default.
    public static var name: String { String(describing: Self.self) }

    /// The release environment, the default.
    public static var initialEnvironment: ServiceEnvironment { .release }

    /// Empty, the default: there are no common parameters.
    public static var commonParameters: Parameters { [:] }

    /// Returns no further parameters: the default implementation.
    public static func makeCommonParameters() -> Parameters { [:] }

    /// Empty, the default: all parameters are part of cache keys.
    public static var unkeyedParameters: Set<String> { [] }

    /// Empty, the default: there are no common header fields.
    public static var commonHeaders: [String: String] { [:] }

    /// Empty, the default: no further fields identify the sender.
    public static var authenticatingFields: Set<String> { [] }

    /// 60 seconds, the default.
    public static var deadline: Duration { .seconds(60) }

    /// `nil`, the default: no requests are merged.
    public static var merging: MergePolicy? { nil }
    /// `nil`, the default: no bodies are compressed.
    public static var compression: CompressionPolicy? { nil }
    /// `false`, the default: plain HTTP is allowed only to this machine.
    public static var allowsPlainHTTP: Bool { false }
    /// `false`, the default: no host is remembered.
    public static var remembersStrictTransport: Bool { false }
    /// ``CookiePolicy/off``, the default: cookies are neither stored nor sent.
    public static var cookies: CookiePolicy { .off }
    /// ``HedgingPolicy/off``, the default: no reads are hedged.
    public static var hedging: HedgingPolicy { .off }
    /// `nil`, the default: the service uses no access tokens.
    public static var credentials: (any Credentials)? { nil }
    /// The default: required if the service has credentials, otherwise none.
    public static var authorization: AuthorizationPolicy { credentials == nil ? .none : .required }

    /// Returns `nil`, the default: the layer's transport is used.
    public static func makeTransport() -> (any Transport)? { nil }

    /// Returns the verdict that follows from the status: the default implementation.
    public static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        Verdict(status: head.status, headerFields: head.headerFields)
    }
}
