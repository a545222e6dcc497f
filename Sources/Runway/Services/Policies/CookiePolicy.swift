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
/// Each service of a layer has a jar of its own for each account, in memory. A cookie is sent to the host that set it,
/// and to the other hosts of the domain that its `Domain` attribute names if that domain has one owner. The policy says
/// which domains have; if it names none, the Public Suffix List of the system does. Where there is none, as on Apple's
/// systems, a cookie stays with its host.
///
/// Cookies with `Secure` are sent over TLS, and to this machine itself (`localhost` and loopback addresses) also
/// without it.
///
/// Without an account, cookies identify the sender: cached responses and requests in flight are shared only by calls
/// with the same cookies. If a server changes a cookie with each response, nothing is reused from the cache unless
/// ``ServiceSettings/account`` is set.
public enum CookiePolicy: Sendable, Equatable {
    /// No cookie is stored or sent. A `Cookie` field that an endpoint sets itself is sent unchanged.
    case off
    /// Cookies are stored and sent. A request that has a `Cookie` field of its own is sent with that field alone.
    ///
    /// - Parameter sharedDomains: The domains whose hosts share the cookies that name them in `Domain`, such as
    ///   `example.com`. For any other domain the attribute then counts as that of its host alone. The default is empty:
    ///   the domains are those of the system's Public Suffix List, if it has one.
    case jar(sharedDomains: Set<String> = [])
}

extension Request {
    /// Whether a jar may add cookies to this request further down, which no stage above ``CookieStage`` sees.
    func mayGetCookies(in flight: Flight) -> Bool {
        if case .jar = flight.configuration.settings.cookies { head.headerFields[.cookie] == nil } else { false }
    }
}
