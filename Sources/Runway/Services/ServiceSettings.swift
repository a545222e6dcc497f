/// The settings of one service in one ``NetworkLayer``. They can be changed while the app runs.
///
/// The default of every property is the corresponding static member of the service. A change applies to calls that
/// start after it; see ``NetworkLayer/configure(_:_:)``.
///
/// ```swift
/// network.configure(Listings.self) { settings in
///     settings.environment = .development
///     settings.commonHeaders["X-Client"] = "simulator"
///     settings.deadline = .seconds(60)
/// }
/// ```
public struct ServiceSettings: Sendable {
    /// The environment whose base URL calls use. The default is the service's ``APIService/initialEnvironment``.
    public var environment: ServiceEnvironment
    /// The base URL of each environment. The default is the service's ``APIService/environments``.
    public var baseURLs: [ServiceEnvironment: String]
    /// Parameters of every call. The endpoint's parameters win if names are equal. The default is the service's
    /// ``APIService/commonParameters``, which are empty unless the service defines them.
    public var commonParameters: Parameters
    /// Returns further parameters of one call. Called once for each call. The default calls the service's
    /// ``APIService/makeCommonParameters()``, which returns none unless it is implemented.
    public var makeCommonParameters: @Sendable () -> Parameters
    /// The names of common parameters that cache keys omit. The default is the service's
    /// ``APIService/unkeyedParameters``, which are empty by default.
    public var unkeyedParameters: Set<String>
    /// Header fields of every call. The endpoint's fields win if names are equal. The default is the service's
    /// ``APIService/commonHeaders``, which are empty unless the service defines them.
    public var commonHeaders: [String: String]
    /// The names of further request fields that identify the sender of a request. The default is the service's
    /// ``APIService/authenticatingFields``, which are empty by default.
    public var authenticatingFields: Set<String>
    /// The maximum time of a call whose endpoint sets no deadline. The default is the service's
    /// ``APIService/deadline``, which is 60 s unless the service defines it.
    public var deadline: Duration
    /// The transport of this service. With `nil`, the layer's transport is used. The default is the result of the
    /// service's ``APIService/makeTransport()``, which is `nil` unless it is implemented.
    public var transport: (any Transport)?
    /// The policy for merging concurrent requests into one; `nil` if requests are not merged. The default is the
    /// service's ``APIService/merging``, which is `nil` unless the service defines it.
    public var merging: MergePolicy?
    /// The policy for compressing request bodies; `nil` if bodies are not compressed. The default is the service's
    /// ``APIService/compression``, which is `nil` unless the service defines it.
    public var compression: CompressionPolicy?
    /// Whether requests may go to any host without TLS. The default is the service's ``APIService/allowsPlainHTTP``.
    public var allowsPlainHTTP: Bool
    /// Whether the layer respects `Strict-Transport-Security` (RFC 6797). Hosts that have sent this field then receive
    /// no request without TLS. The default is the service's ``APIService/remembersStrictTransport``, which is `false`
    /// unless the service defines it.
    public var remembersStrictTransport: Bool
    /// Determines whether cookies are stored and sent. The default is the service's ``APIService/cookies``, which is
    /// ``CookiePolicy/off`` unless the service defines it.
    public var cookies: CookiePolicy
    /// The account of the calls; `nil` if they are made without an account. Data that is stored for one account is
    /// never used for another.
    ///
    /// The default is the account that was signed in when the app ended, in this ``environment``, if the layer's
    /// ``TokenStore`` has stored it; otherwise `nil`. If the app sets an account, it applies to this launch, regardless
    /// of the stored one. ``NetworkLayer/signIn(_:to:)`` and ``NetworkLayer/signOut(of:cancelling:)`` set and store the
    /// account.
    public var account: String? { didSet { isAccountRestored = false } }
    /// Whether the account was restored from the token store and not set since.
    private(set) var isAccountRestored = true

    init<Service: APIService>(_ service: Service.Type) {
        environment = service.initialEnvironment
        baseURLs = service.environments
        commonParameters = service.commonParameters
        makeCommonParameters = { service.makeCommonParameters() }
        unkeyedParameters = service.unkeyedParameters
        commonHeaders = service.commonHeaders
        authenticatingFields = service.authenticatingFields
        deadline = service.deadline
        transport = service.makeTransport()
        merging = service.merging
        compression = service.compression
        allowsPlainHTTP = service.allowsPlainHTTP
        remembersStrictTransport = service.remembersStrictTransport
        cookies = service.cookies
    }

    /// Restores the account that was signed in when the app ended.
    mutating func restore(account: String?) {
        self.account = account
        isAccountRestored = true
    }

    /// Returns the current base URL.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` if the environment is unknown or its URL is invalid.
    func baseURL(of service: any APIService.Type) throws(NetworkError) -> BaseURL {
        guard let text = baseURLs[environment] else {
            let known = baseURLs.keys.map(\.name).sorted().joined(separator: ", ")
            throw NetworkError(
                .invalidConfiguration, in: .assembling,
                "The service \"\(service.name)\" has no environment \"\(environment)\"; it has: \(known).")
        }
        guard let baseURL = BaseURL(text) else {
            throw NetworkError(
                .invalidConfiguration, in: .assembling,
                "The base URL \"\(Redaction.withoutUserInfo(text))\" of the service \"\(service.name)\" (\(environment)) can't be read: "
                    + "it must have the form https://host[:port][/path]"
                    + (text.utf8.allSatisfy { $0 < 0x80 } ? "." : ", and in ASCII: a host as its A-label, xn--…."))
        }
        return baseURL
    }
}
