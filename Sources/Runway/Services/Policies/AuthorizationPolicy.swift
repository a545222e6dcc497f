/// Whether calls carry the credentials of their service; see ``APIService/credentials``.
///
/// ```swift
/// struct RentalList: Endpoint {
///     static let service = Listings.self
///     static let authorization = AuthorizationPolicy.ifSignedIn
///     var path: EndpointPath { "rental/list" }
/// }
/// ```
///
/// The account of a call is the one that is signed in when the call is made: a sign-in or a sign-out while it is in
/// flight does not affect it. A call that would carry credentials, of a service without any, fails as
/// ``NetworkError/Kind/invalidConfiguration``.
public enum AuthorizationPolicy: Sendable, Hashable {
    /// Calls carry the access token of the account. While no account is signed in, they fail as
    /// ``NetworkError/Kind/needsLogin``, and no request is sent.
    case required
    /// Calls carry the access token of the account, as under ``required``. While no account is signed in, they are sent
    /// without a token; if the service refuses such a call because it has no token, the call fails as
    /// ``NetworkError/Kind/needsLogin``.
    ///
    /// An account that is signed in has to have a token: if that is refused and can't be renewed, the call fails, and
    /// is not sent without one, since its response would count as the account's.
    case ifSignedIn
    /// Calls carry no access token. If the service refuses one because it has no token, it fails as
    /// ``NetworkError/Kind/needsAccessToken``, and no token is renewed.
    case none
}
