import HTTPTypes

/// Whether calls to a service store and send cookies (RFC 6265bis).
///
/// ```swift
/// enum Forum: APIService {
///     static let cookies: CookiePolicy = .jar()
///     // …
/// }
/// ```
///
/// Each service of a layer has a jar of its own for each account, in memory. A cookie is sent to the host that set it and to no
/// other, unless the policy names a domain whose hosts share them: without a list of public suffixes only the app can say that
/// a domain has one owner.
///
/// Without an account, cookies identify the sender: cached responses and requests in flight are shared only by calls with the same
/// cookies. If a server changes a cookie with each response, nothing is reused from the cache unless ``ServiceSettings/account`` is
/// set.
public enum CookiePolicy: Sendable, Equatable {
    /// No cookie is stored or sent. A `Cookie` field that an endpoint sets itself is sent unchanged.
    case off
    /// Cookies are stored and sent. A request that has a `Cookie` field of its own is sent with that field alone.
    ///
    /// - Parameter sharedDomains: The domains whose hosts share the cookies that name them in `Domain`, such as
    /// `example.com`. For any other domain the attribute counts as that of its host alone. The default is empty.
    case jar(sharedDomains: Set<String> = [])
}

extension Request {
    /// Whether a jar may add cookies to this request further down, which no stage above ``CookieStage`` sees.
    func mayGetCookies(in flight: Flight) -> Bool {
        if case .jar = flight.configuration.settings.cookies { head.headerFields[.cookie] == nil } else { false }
    }
}
