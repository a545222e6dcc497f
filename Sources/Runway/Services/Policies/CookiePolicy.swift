import HTTPTypes

/// Determines whether calls to a service store and send cookies (RFC 6265bis).
///
/// ```swift
/// enum Forum: APIService {
///     static let cookies: CookiePolicy = .jar()
///     // …
/// }
/// ```
///
/// Each service of a layer has a separate cookie jar for each account, in memory. A cookie is sent to the host that set
/// it. If the domain in its `Domain` attribute belongs to a single owner, it is also sent to the other hosts of that
/// domain. The policy lists the domains with a single owner. If it lists none, the system's Public Suffix List decides.
/// Without such a list, as on Apple's systems, a cookie is sent only to its own host.
///
/// Cookies with `Secure` are sent over TLS. To this machine (`localhost` and loopback addresses) they are also sent
/// without TLS.
///
/// Without an account, cookies identify the sender: cached responses and requests in flight are shared only by calls
/// with the same cookies. If a server changes a cookie with each response, nothing is reused from the cache unless
/// ``ServiceSettings/account`` is set.
public enum CookiePolicy: Sendable, Equatable {
    /// Cookies are neither stored nor sent. A `Cookie` field that an endpoint sets itself is sent unchanged.
    case off
    /// Cookies are stored and sent. If a request already has a `Cookie` field, only that field is sent.
    ///
    /// - Parameter sharedDomains: The domains whose hosts may share cookies, such as `example.com`. A cookie whose
    ///   `Domain` is any other domain is sent only to its own host. The default is empty: the system's Public Suffix
    ///   List decides, if the system has one.
    case jar(sharedDomains: Set<String> = [])
}

extension Request {
    /// Returns whether ``CookieStage`` may add cookies to this request. Stages before ``CookieStage`` do not see these
    /// cookies.
    func mayGetCookies(in flight: Flight) -> Bool {
        if case .jar = flight.configuration.settings.cookies { head.headerFields[.cookie] == nil } else { false }
    }
}
