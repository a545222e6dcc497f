/// The policy that sends several requests of one service as one, if its server has a route for that.
///
/// ```swift
/// enum Listings: APIService {
///     static let merging: MergePolicy? = .standard
///     // …
/// }
/// ```
///
/// A request is sent at once if no other is in flight. Requests that are made meanwhile wait, and are sent together
/// when that request completes or after ``wait``, whichever comes first. Merging is useful over HTTP/1.1, at a high
/// latency, for many small calls at once. Over HTTP/2, which multiplexes requests on one connection, it would only make
/// calls wait for each other: there it is off.
///
/// At most 64 KiB of requests are sent as one; a larger request is sent by itself. Their responses have at most 16 MiB
/// together. After a response, pending requests wait for 2 ms, so that the next requests of its callers are sent with
/// them.
public struct MergePolicy: Sendable, Equatable {
    /// The path `_batch` below the service's base URL, and the default bounds.
    public static let standard = MergePolicy()

    /// The route that takes merged requests, below the service's base URL. The default is `_batch`.
    public var path: EndpointPath
    /// The most requests that are sent as one. The default is 20; at least 1, at most 100. Raise it with the server's
    /// own limit.
    public var maximumCount: Int
    /// The longest that a request waits to be sent with others. The default is 50 ms; at most 1 s. Raise it for
    /// networks whose round trips take longer.
    public var wait: Duration
    /// Whether requests are merged over HTTP/2, too. The default is `false`.
    public var mergesOverHTTP2: Bool
    /// The most bytes of requests (paths, header fields and bodies as they are) that are sent as one; a larger request
    /// is sent by itself.
    package var maximumByteCount: Int
    /// The most bytes of all responses in one merged response, beside each endpoint's own limit; at most 32 MiB.
    package var maximumResponseByteCount: Int
    /// The time that the pending requests wait after a response, so that the next requests of its callers can be sent
    /// with them. `.zero` sends the pending requests when the response is received.
    ///
    /// The wait ends as soon as there are as many new requests as there were responses. There is no wait if one request
    /// completed and no other is pending: calls in sequence never wait.
    package var settling: Duration

    /// Merges concurrent requests of a service; see the properties for the defaults and their bounds.
    public init(
        path: EndpointPath = "_batch", maximumCount: Int = 20, wait: Duration = .milliseconds(50),
        mergesOverHTTP2: Bool = false
    ) {
        self.init(
            path: path, maximumCount: maximumCount, wait: wait, settling: .milliseconds(2),
            mergesOverHTTP2: mergesOverHTTP2)
    }

    package init(
        path: EndpointPath = "_batch", maximumCount: Int = 20, maximumByteCount: Int = 64 << 10,
        maximumResponseByteCount: Int = 16 << 20, wait: Duration = .milliseconds(50), settling: Duration,
        mergesOverHTTP2: Bool = false
    ) {
        self.path = path
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
        self.maximumResponseByteCount = maximumResponseByteCount
        self.wait = wait
        self.settling = settling
        self.mergesOverHTTP2 = mergesOverHTTP2
    }
}
