/// What a manager does with a second call while the first is in flight.
///
/// The calls of a ``PagedAPIManager`` are its loads. Two loads are identical if their first requests are, and both are
/// for the first page, the next one or the one before.
///
/// If a policy cancels calls, the newest `load` counts even if it fails before it starts, because of a bad parameter
/// for instance: no older call lands after its error. A call that an interceptor vetoes before it starts is not made,
/// and changes nothing: a call in flight continues. An interceptor in whose case the older result would mislead cancels
/// it, by ``APIManaging/cancelAll()``.
///
/// ```swift
/// struct ReserveHome: Endpoint {
///     static let service = Listings.self
///     static let method = HTTPRequest.Method.post
///     static let overlap = OverlapPolicy.ignoreNew  // a second tap reserves nothing
///     var path: EndpointPath { "reservations" }
///     var home: String
/// }
/// ```
public enum OverlapPolicy: String, Sendable, Hashable {
    /// An identical call joins the one in flight; a different one replaces it. For nearly everything.
    ///
    /// Of an identical call, no request is made, and `load` returns the number of the call in flight, with which it
    /// lands. Calls are identical if they send the same parameters, header fields and body, in the same session of an
    /// account and the same environment, with the same ``CallOptions``. A body that is a file
    /// (``RequestBody/file(_:)``) is the same as another of the same path if size, time of change and number on the
    /// disk were the same when each call was made. Any other stream, and a form with a file, is never the same as
    /// another. Of ``CallOptions/cacheUse``, the call in flight may ask for more: an ordinary call joins one that is
    /// ``CacheUse/refresh``. A call that is ``CacheUse/refresh``, such as a user's pull, joins one that can't respond
    /// from the cache, and replaces one that can.
    case joinOrReplace
    /// The second call is not made, whatever its parameters, and `load` returns the number of the first.
    case ignoreNew
    /// The calls in flight are cancelled, and only the second can land, even if it is identical.
    case cancelRunning
    /// Both calls are made, and land in the order in which they complete. A ``PagedAPIManager`` has one load at a time:
    /// there, it is ``cancelRunning``.
    case concurrent

    /// Whether a call that starts, or fails to, ends those before it.
    var replacesOlder: Bool { self == .joinOrReplace || self == .cancelRunning }
}
