public import HTTPTypes

// Swift takes a property that has the name of a setting and another type for one that has nothing to do with the protocol, and the default
// of the setting holds without a word. Here the types with which settings are declared are associated types, which the compiler takes from the
// properties themselves, and a requirement is met only if they are the right ones.

/// Makes the compiler refuse an endpoint that declares a setting with another type than ``Endpoint``, such as `static
/// let method = "POST"`, or `static let deadline = Duration.seconds(5)` instead of `Duration?`. The error names both
/// types.
///
/// Every ``Endpoint`` conforms, without a declaration of its own.
public protocol EndpointDeclarations {
    /// The type with which ``Endpoint/method`` is declared.
    associatedtype DeclaredMethod = HTTPRequest.Method
    /// The type with which ``Endpoint/encoding`` is declared.
    associatedtype DeclaredEncoding = ParameterEncoding
    /// The type with which ``Endpoint/deadline`` is declared.
    associatedtype DeclaredDeadline = Duration?
    /// The type with which ``Endpoint/cache`` is declared.
    associatedtype DeclaredCache = CachePolicy
    /// The type with which ``Endpoint/retry`` is declared.
    associatedtype DeclaredRetry = RetryPolicy
    /// The type with which ``Endpoint/authorization`` is declared.
    associatedtype DeclaredAuthorization = AuthorizationPolicy
    /// ``Endpoint/method``.
    static var method: DeclaredMethod { get }
    /// ``Endpoint/encoding``.
    static var encoding: DeclaredEncoding { get }
    /// ``Endpoint/deadline``.
    static var deadline: DeclaredDeadline { get }
    /// ``Endpoint/cache``.
    static var cache: DeclaredCache { get }
    /// ``Endpoint/retry``.
    static var retry: DeclaredRetry { get }
    /// ``Endpoint/authorization``.
    static var authorization: DeclaredAuthorization { get }
    /// Exists only if each setting is declared with its type of ``Endpoint``.
    static var eachSettingHasItsType: Void { get }
}

extension EndpointDeclarations
where
    DeclaredMethod == HTTPRequest.Method,
    DeclaredEncoding == ParameterEncoding,
    DeclaredDeadline == Duration?,
    DeclaredCache == CachePolicy,
    DeclaredRetry == RetryPolicy,
    DeclaredAuthorization == AuthorizationPolicy
{
    /// An empty value.
    public static var eachSettingHasItsType: Void { () }
}

/// Makes the compiler refuse a service that declares a setting with another type than ``APIService``, such as `static
/// let credentials = Login()` instead of `(any Credentials)?`. The error names both types.
///
/// Every ``APIService`` conforms, without a declaration of its own.
public protocol ServiceDeclarations {
    /// The type with which ``APIService/initialEnvironment`` is declared.
    associatedtype DeclaredInitialEnvironment = ServiceEnvironment
    /// The type with which ``APIService/commonParameters`` is declared.
    associatedtype DeclaredCommonParameters = Parameters
    /// The type with which ``APIService/commonHeaders`` is declared.
    associatedtype DeclaredCommonHeaders = [String: String]
    /// The type with which ``APIService/deadline`` is declared.
    associatedtype DeclaredDeadline = Duration
    /// The type with which ``APIService/merging`` is declared.
    associatedtype DeclaredMerging = MergePolicy?
    /// The type with which ``APIService/compression`` is declared.
    associatedtype DeclaredCompression = CompressionPolicy?
    /// The type with which ``APIService/allowsPlainHTTP`` is declared.
    associatedtype DeclaredAllowsPlainHTTP = Bool
    /// The type with which ``APIService/cookies`` is declared.
    associatedtype DeclaredCookies = CookiePolicy
    /// The type with which ``APIService/hedging`` is declared.
    associatedtype DeclaredHedging = HedgingPolicy
    /// The type with which ``APIService/credentials`` is declared.
    associatedtype DeclaredCredentials = (any Credentials)?
    /// The type with which ``APIService/authorization`` is declared.
    associatedtype DeclaredAuthorization = AuthorizationPolicy
    /// ``APIService/initialEnvironment``.
    static var initialEnvironment: DeclaredInitialEnvironment { get }
    /// ``APIService/commonParameters``.
    static var commonParameters: DeclaredCommonParameters { get }
    /// ``APIService/commonHeaders``.
    static var commonHeaders: DeclaredCommonHeaders { get }
    /// ``APIService/deadline``.
    static var deadline: DeclaredDeadline { get }
    /// ``APIService/merging``.
    static var merging: DeclaredMerging { get }
    /// ``APIService/compression``.
    static var compression: DeclaredCompression { get }
    /// ``APIService/allowsPlainHTTP``.
    static var allowsPlainHTTP: DeclaredAllowsPlainHTTP { get }
    /// ``APIService/cookies``.
    static var cookies: DeclaredCookies { get }
    /// ``APIService/hedging``.
    static var hedging: DeclaredHedging { get }
    /// ``APIService/credentials``.
    static var credentials: DeclaredCredentials { get }
    /// ``APIService/authorization``.
    static var authorization: DeclaredAuthorization { get }
    /// Exists only if each setting is declared with its type of ``APIService``.
    static var eachSettingHasItsType: Void { get }
}

extension ServiceDeclarations
where
    DeclaredInitialEnvironment == ServiceEnvironment,
    DeclaredCommonParameters == Parameters,
    DeclaredCommonHeaders == [String: String],
    DeclaredDeadline == Duration,
    DeclaredMerging == MergePolicy?,
    DeclaredCompression == CompressionPolicy?,
    DeclaredAllowsPlainHTTP == Bool,
    DeclaredCookies == CookiePolicy,
    DeclaredHedging == HedgingPolicy,
    DeclaredCredentials == (any Credentials)?,
    DeclaredAuthorization == AuthorizationPolicy
{
    /// An empty value.
    public static var eachSettingHasItsType: Void { () }
}
