public import HTTPTypes

/// The way in which calls of a service carry its access token, and request a new one.
///
/// ```swift
/// struct ListingsCredentials: Credentials {
///     func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
///         let response = try await network.call(TokenRefresh(refreshToken: token.refreshToken ?? ""))
///
///         return AccessToken(
///             try response["access_token"].require(), account: token.account,
///             expiry: network.clock.date.addingTimeInterval(try response["expires_in"].require()),
///             refreshToken: response["refresh_token"].string)
///     }
/// }
/// ```
///
/// The layer makes one refresh at a time for each account of a service, however many calls need it. A call that the
/// refresh makes must not need the token itself: its ``Endpoint/authorization`` is ``AuthorizationPolicy/none``.
/// Otherwise it fails at once as ``NetworkError/Kind/invalidConfiguration``, since it would wait for itself.
public protocol Credentials: Sendable {
    /// The time before its expiry at which a token is renewed. The default is 30 s. For a token with less than twice
    /// that lifetime, it is half the lifetime.
    var leeway: Duration { get }
    /// The longest that a refresh may take, whatever the deadlines of the calls that wait for it. The default is 30 s.
    var refreshDeadline: Duration { get }

    /// Adds the token to a request. The default is the header field `Authorization: Bearer …` (RFC 6750 §2.1).
    ///
    /// Every header field that it adds or changes is removed from records and not sent to another origin after a
    /// redirect.
    func authorize(_ request: inout Request, with token: AccessToken)

    /// The header fields that ``authorize(_:with:)`` sets, for requests that set them by hand: they separate cached
    /// responses, are not recorded, and do not follow a redirect to another origin either.
    ///
    /// The default calls ``authorize(_:with:)`` with an example token and an example request, when the layer first uses
    /// the service and whenever its settings change. Implement it if that can't be.
    var fields: Set<HTTPField.Name> { get }

    /// Returns the texts of a token that records and errors must not show anywhere. Texts under 8 bytes are masked only
    /// in the fields that ``authorize(_:with:)`` sets. By default these are the token and its refresh token.
    func secrets(of token: AccessToken) -> [String]

    /// Requests a new token from the service. A started refresh is completed even if no call waits for it any more,
    /// since the service may have invalidated the old token; it is cancelled at its deadline, by a sign-in and by a
    /// sign-out.
    ///
    /// - Parameters:
    ///   - token: The token that ends or was refused.
    ///   - network: The layer, for the call that requests it.
    /// - Returns: The new token, of the same account. If it has no refresh token, it inherits the old one's.
    /// - Throws: The reason why there is no new token. ``isRefusal(_:)`` decides whether the old token stays in use;
    ///   ``NetworkError/Kind/loginCancelled`` if the refresh asked the user to log in, and the user declined.
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken

    /// Whether an error of ``refresh(_:on:)`` means that the service will never renew this token, so that it is
    /// removed.
    ///
    /// By default `true` for ``NetworkError/Kind/needsLogin``, ``NetworkError/Kind/needsAccessToken``, an error in the
    /// service's envelope, and a status of 400 to 499, unless the status is 408, 425, 429, or 500 and more. An error of
    /// the step ``FlightStep/signing`` is no refusal: it concerns the key of the device.
    func isRefusal(_ error: any Error) -> Bool
}

extension Credentials {
    /// 30 seconds.
    public var leeway: Duration { .seconds(30) }

    /// 30 seconds.
    public var refreshDeadline: Duration { .seconds(30) }

    /// Adds the token as a bearer token.
    public func authorize(_ request: inout Request, with token: AccessToken) {
        request.head.headerFields[.authorization] = "Bearer \(token.value)"
    }

    /// The fields that an example request gets.
    public var fields: Set<HTTPField.Name> {
        var example = Request(
            head: HTTPRequest(method: .get, scheme: "https", authority: "service.invalid", path: "/"))
        return fields(setBy: AccessToken("example", account: "example"), in: &example)
    }

    /// Returns the token and its refresh token.
    public func secrets(of token: AccessToken) -> [String] { [token.value, token.refreshToken].compactMap { $0 } }

    /// Whether the service refused.
    public func isRefusal(_ error: any Error) -> Bool {
        guard let error = error as? NetworkError, error.step != .signing else { return false }
        let outlook = error.outlook
        return outlook.obstacle == .login || outlook.isFinal && error.status?.kind != .serverError
    }
}
