/// Determines whether calls carry the access token of their service; see ``APIService/credentials``.
///
/// ```swift
/// struct RentalList: Endpoint {
///     static let service = Listings.self
///     static let authorization = AuthorizationPolicy.ifSignedIn
///     var path: EndpointPath { "rental/list" }
/// }
/// ```
///
/// The account of a call is the account that is signed in when the call is made. A sign-in or sign-out while the call
/// is in flight does not change it. A call that would carry a token fails as ``NetworkError/Kind/invalidConfiguration``
/// if its service has no credentials.
public enum AuthorizationPolicy: Sendable, Hashable {
    /// Calls carry the access token of the account. While no account is signed in, they fail as
    /// ``NetworkError/Kind/needsLogin`` without a request.
    case required
    /// Calls carry the access token of the account. While no account is signed in, they are sent without a token. If
    /// the service then refuses a call because of the missing token, the call fails as
    /// ``NetworkError/Kind/needsLogin``.
    ///
    /// A signed-in account must have a token. If the token is refused and can't be renewed, the call fails. The call is
    /// not sent without a token, because its response would be taken for a response to the account.
    case ifSignedIn
    /// Calls carry no access token. If the service refuses a call because of the missing token, the call fails as
    /// ``NetworkError/Kind/needsAccessToken``. No token is renewed.
    case none
}
