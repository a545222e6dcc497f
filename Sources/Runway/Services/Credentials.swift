public import HTTPTypes

/// Defines how calls of a service carry its access token, and how a new token is requested.
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
/// The layer makes only one refresh at a time for each account of a service, however many calls need it. A call that
/// the refresh makes must not need the token itself: its ``Endpoint/authorization`` must be
/// ``AuthorizationPolicy/none``. Otherwise it fails at once as ``NetworkError/Kind/invalidConfiguration``, because it
/// would wait for itself.
public protocol Credentials: Sendable {
    /// The time before its expiry at which a token is renewed. The default is 30 s. If the token's lifetime is less
    /// than twice this time, half the lifetime is used.
    var leeway: Duration { get }
    /// The maximum time of a refresh, regardless of the deadlines of the calls that wait for it. The default is 30 s.
    var refreshDeadline: Duration { get }

    /// Adds the token to a request. The default sets the header field `Authorization: Bearer …` (RFC 6750 §2.1).
    ///
    /// Every header field that this function adds or changes is removed from records, and is not sent to another origin
    /// after a redirect.
    func authorize(_ request: inout Request, with token: AccessToken)

    /// The header fields that ``authorize(_:with:)`` sets. If a request sets such a field by hand, the field is treated
    /// the same way: it separates cached responses, is not recorded, and does not follow a redirect to another origin.
    ///
    /// The default calls ``authorize(_:with:)`` with an example token and an example request, when the layer first uses
    /// the service and whenever its settings change. Implement this property if your ``authorize(_:with:)`` can't
    /// handle examples.
    var fields: Set<HTTPField.Name> { get }

    /// Returns the texts of a token that must not appear in records and errors. Texts shorter than 8 bytes are masked
    /// only in the fields that ``authorize(_:with:)`` sets. The default returns the token and its refresh token.
    func secrets(of token: AccessToken) -> [String]

    /// Requests a new token from the service. A refresh is completed even if no call waits for it any more, because the
    /// service may have invalidated the old token. It is cancelled at its deadline, by a sign-in and by a sign-out.
    ///
    /// - Parameters:
    ///   - token: The token that expires or was refused.
    ///   - network: The layer for the call that requests the new token.
    /// - Returns: The new token of the same account. Without a refresh token, it inherits the old refresh token.
    /// - Throws: The reason why there is no new token. ``isRefusal(_:)`` decides whether the old token stays in use.
    ///   Throw ``NetworkError/Kind/loginCancelled`` if the user was asked to log in and declined.
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken

    /// Returns whether an error of ``refresh(_:on:)`` means that the service will never renew this token. The token is
    /// then removed.
    ///
    /// By default this is `true` for ``NetworkError/Kind/needsLogin``, ``NetworkError/Kind/needsAccessToken``, an error
    /// in the service's envelope, and a status of 400 to 499. It is `false` if the status is 408, 425, 429, or at
    /// least 500. It is also `false` for an error of the step ``FlightStep/signing``, because such an error concerns
    /// the key of the device.
    func isRefusal(_ error: any Error) -> Bool
}

extension Credentials {
    /// 30 seconds, the default.
    public var leeway: Duration { .seconds(30) }

    /// 30 seconds, the default.
    public var refreshDeadline: Duration { .seconds(30) }

    /// Sets the token as a bearer token: the default implementation.
    public func authorize(_ request: inout Request, with token: AccessToken) {
        request.head.headerFields[.authorization] = "Bearer \(token.value)"
    }

    /// The fields that ``authorize(_:with:)`` sets in an example request, the default.
    public var fields: Set<HTTPField.Name> {
        var example = Request(
            head: HTTPRequest(method: .get, scheme: "https", authority: "service.invalid", path: "/"))
        return fields(setBy: AccessToken("example", account: "example"), in: &example)
    }

    /// Returns the token and its refresh token: the default implementation.
    public func secrets(of token: AccessToken) -> [String] { [token.value, token.refreshToken].compactMap { $0 } }

    /// Returns whether the error is a permanent refusal of the service: the default implementation.
    public func isRefusal(_ error: any Error) -> Bool {
        guard let error = error as? NetworkError, error.step != .signing else { return false }
        let outlook = error.outlook
        return outlook.obstacle == .login || outlook.isFinal && error.status?.kind != .serverError
    }
}
