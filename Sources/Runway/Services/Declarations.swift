public import HTTPTypes

// If an endpoint declares a setting with the wrong type, Swift takes the property for an unrelated one, and the default
// silently applies. The protocols in this file prevent that: they repeat the settings with associated types, which the
// compiler infers from the declared properties. A declaration is accepted only if these types are the expected ones.

/// Makes the compiler refuse an endpoint that declares a setting with another type than ``Endpoint`` requires. Examples
/// are `static let method = "POST"`, and `static let deadline = Duration.seconds(5)` instead of `Duration?`. The
/// compiler's error names both types.
///
/// Every ``Endpoint`` conforms automatically.
public protocol EndpointDeclarations {
    /// The type of the endpoint's ``Endpoint/method``.
    associatedtype DeclaredMethod = HTTPRequest.Method
    /// The type of the endpoint's ``Endpoint/encoding``.
    associatedtype DeclaredEncoding = ParameterEncoding
    /// The type of the endpoint's ``Endpoint/deadline``.
    associatedtype DeclaredDeadline = Duration?
    /// The type of the endpoint's ``Endpoint/cache``.
    associatedtype DeclaredCache = CachePolicy
    /// The type of the endpoint's ``Endpoint/retry``.
    associatedtype DeclaredRetry = RetryPolicy
    /// The type of the endpoint's ``Endpoint/authorization``.
    associatedtype DeclaredAuthorization = AuthorizationPolicy
    /// Repeats ``Endpoint/method`` so that the compiler checks its type.
    static var method: DeclaredMethod { get }
    /// Repeats ``Endpoint/encoding`` so that the compiler checks its type.
    static var encoding: DeclaredEncoding { get }
    /// Repeats ``Endpoint/deadline`` so that the compiler checks its type.
    static var deadline: DeclaredDeadline { get }
    /// Repeats ``Endpoint/cache`` so that the compiler checks its type.
    static var cache: DeclaredCache { get }
    /// Repeats ``Endpoint/retry`` so that the compiler checks its type.
    static var retry: DeclaredRetry { get }
    /// Repeats ``Endpoint/authorization`` so that the compiler checks its type.
    static var authorization: DeclaredAuthorization { get }
    /// Available only if each setting is declared with the type that ``Endpoint`` requires.
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
    /// An empty value, which exists only if all types are as expected.
    public static var eachSettingHasItsType: Void { () }
}

/// Makes the compiler refuse a service that declares a setting with another type than ``APIService`` requires, such as
/// `static let credentials = Login()` instead of `(any Credentials)?`. The compiler's error names both types.
///
/// Every ``APIService`` conforms automatically.
public protocol ServiceDeclarations {
    /// The type of the service's ``APIService/initialEnvironment``.
    associatedtype DeclaredInitialEnvironment = ServiceEnvironment
    /// The type of the service's ``APIService/commonParameters``.
    associatedtype DeclaredCommonParameters = Parameters
    /// The type of the service's ``APIService/commonHeaders``.
    associatedtype DeclaredCommonHeaders = [String: String]
    /// The type of the service's ``APIService/deadline``.
    associatedtype DeclaredDeadline = Duration
    /// The type of the service's ``APIService/merging``.
    associatedtype DeclaredMerging = MergePolicy?
    /// The type of the service's ``APIService/compression``.
    associatedtype DeclaredCompression = CompressionPolicy?
    /// The type of the service's ``APIService/allowsPlainHTTP``.
    associatedtype DeclaredAllowsPlainHTTP = Bool
    /// The type of the service's ``APIService/cookies``.
    associatedtype DeclaredCookies = CookiePolicy
    /// The type of the service's ``APIService/hedging``.
    associatedtype DeclaredHedging = HedgingPolicy
    /// The type of the service's ``APIService/credentials``.
    associatedtype DeclaredCredentials = (any Credentials)?
    /// The type of the service's ``APIService/authorization``.
    associatedtype DeclaredAuthorization = AuthorizationPolicy
    /// Repeats ``APIService/initialEnvironment`` so that the compiler checks its type.
    static var initialEnvironment: DeclaredInitialEnvironment { get }
    /// Repeats ``APIService/commonParameters`` so that the compiler checks its type.
    static var commonParameters: DeclaredCommonParameters { get }
    /// Repeats ``APIService/commonHeaders`` so that the compiler checks its type.
    static var commonHeaders: DeclaredCommonHeaders { get }
    /// Repeats ``APIService/deadline`` so that the compiler checks its type.
    static var deadline: DeclaredDeadline { get }
    /// Repeats ``APIService/merging`` so that the compiler checks its type.
    static var merging: DeclaredMerging { get }
    /// Repeats ``APIService/compression`` so that the compiler checks its type.
    static var compression: DeclaredCompression { get }
    /// Repeats ``APIService/allowsPlainHTTP`` so that the compiler checks its type.
    static var allowsPlainHTTP: DeclaredAllowsPlainHTTP { get }
    /// Repeats ``APIService/cookies`` so that the compiler checks its type.
    static var cookies: DeclaredCookies { get }
    /// Repeats ``APIService/hedging`` so that the compiler checks its type.
    static var hedging: DeclaredHedging { get }
    /// Repeats ``APIService/credentials`` so that the compiler checks its type.
    static var credentials: DeclaredCredentials { get }
    /// Repeats ``APIService/authorization`` so that the compiler checks its type.
    static var authorization: DeclaredAuthorization { get }
    /// Available only if each setting is declared with the type that ``APIService`` requires.
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
    /// An empty value, which exists only if all types are as expected.
    public static var eachSettingHasItsType: Void { () }
}
