/// A policy that merges several requests of one service into one, if its server has a route for merged requests.
///
/// ```swift
/// enum Listings: APIService {
///     static let merging: MergePolicy? = .standard
///     // …
/// }
/// ```
///
/// A request is sent at once if no other is in flight. Requests that are made during that time wait. They are sent
/// together when the first request completes or after ``wait``, whichever comes first. Merging is useful over HTTP/1.1
/// with a high latency, for many small calls at the same time. HTTP/2 multiplexes requests on one connection, so
/// merging would only make calls wait for each other. It is therefore off over HTTP/2 by default.
///
/// At most 64 KiB of requests are merged into one; a larger request is sent separately. Their responses may have at
/// most 16 MiB together. After a response, pending requests wait for 2 ms, so that the next requests of the response's
/// callers are merged with them.
public struct MergePolicy: Sendable, Equatable {
    /// The policy with the path `_batch` and the default bounds.
    public static let standard = MergePolicy()

    /// The path of the server's route for merged requests, relative to the service's base URL. The default is `_batch`.
    public var path: EndpointPath
    /// The maximum number of requests that are merged into one. The default is 20; from 1 to 100. Raise it if the
    /// server's limit is higher.
    public var maximumCount: Int
    /// The maximum time that a request waits for others. The default is 50 ms; at most 1 s. Raise it for networks with
    /// longer round trips.
    public var wait: Duration
    /// Whether requests are also merged over HTTP/2. The default is `false`.
    public var mergesOverHTTP2: Bool
    /// The maximum size of requests that are merged into one, in bytes of paths, header fields and bodies. A larger
    /// request is sent separately.
    package var maximumByteCount: Int
    /// The maximum size of all responses in one merged response, in bytes; at most 32 MiB. Each endpoint's own limit
    /// applies, too.
    package var maximumResponseByteCount: Int
    /// The time that pending requests wait after a response. The response's callers may make new requests in that time.
    /// These are then merged with the pending requests. With `.zero`, pending requests are sent when the response is
    /// received.
    ///
    /// The wait ends when there are as many new requests as there were responses. If one request completed and none is
    /// pending, there is no wait, so sequential calls are not delayed.
    package var settling: Duration

    /// Creates a policy that merges concurrent requests of a service. The properties state the defaults and bounds.
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
