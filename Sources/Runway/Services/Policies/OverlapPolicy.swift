/// The policy of a manager for a second call while the first is in flight.
///
/// For a ``PagedAPIManager`` the policy applies to loads. Two loads are identical if their first requests are
/// identical, and if both are for the first page, both for the next page, or both for the previous page.
///
/// If a policy cancels calls, a new `load` ends earlier calls even if it fails before it starts, for example because of
/// an invalid parameter. No response of an older call is then delivered after its error. If an interceptor vetoes a
/// call before it starts, the call is not made and does not affect calls in flight. If their results would be
/// misleading, the interceptor can cancel them with ``APIManaging/cancelAll()``.
///
/// ```swift
/// struct ReserveHome: Endpoint {
///     static let service = Listings.self
///     static let method = HTTPRequest.Method.post
///     static let overlap = OverlapPolicy.ignoreNew  // a second tap reserves nothing
///     var path: EndpointPath { "reservations" }
///
///     var home: String
/// }
/// ```
public enum OverlapPolicy: String, Sendable, Hashable {
    /// An identical call joins the call in flight; a different call replaces it. Suitable for nearly all endpoints.
    ///
    /// An identical call makes no request: `load` returns the number of the call in flight, and both calls receive the
    /// same result. Calls are identical if these are equal:
    ///
    /// - their parameters, header fields and body,
    /// - the session of their account, and their environment,
    /// - their ``CallOptions``.
    ///
    /// A body that is a file (``RequestBody/file(_:)``) equals another with the same path if size, modification time
    /// and inode number were the same when each call was made. Other streams, and forms with files, never equal another
    /// body.
    ///
    /// Calls may differ in ``CallOptions/cacheUse``. An ordinary call joins a call with ``CacheUse/refresh``. A call
    /// with ``CacheUse/refresh``, such as a pull to refresh, joins a call that can't use a cached response, and
    /// replaces a call that can use one.
    case joinOrReplace
    /// The second call is not made, even if its parameters differ. `load` returns the number of the first call.
    case ignoreNew
    /// The calls in flight are cancelled, so only the second call can deliver a result, even if it is identical.
    case cancelRunning
    /// Both calls are made, and their results are delivered in the order in which they complete. A ``PagedAPIManager``
    /// allows only one load at a time, and treats this policy like ``cancelRunning``.
    case concurrent

    /// Whether a new call ends earlier calls, even if it fails to start.
    var replacesOlder: Bool { self == .joinOrReplace || self == .cancelRunning }
}
