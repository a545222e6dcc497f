/// How requests of one service are put into one, where its server has a route for that.
///
/// ```swift
/// enum Listings: APIService {
///     static let merging: MergePolicy? = .standard
///     // …
/// }
/// ```
///
/// A request flies at once where nothing else is in the air. What is asked for meanwhile waits, and leaves together when that flight
/// lands or after ``wait``, whichever is first. Merging pays over HTTP/1.1, at a high latency, for many small calls at once. Over
/// HTTP/2, which puts any number of requests on one connection at no cost, it only makes calls wait for each other: there it is off.
public struct MergePolicy: Sendable, Equatable {
    /// The path `_batch` below the service's base URL, and the default bounds.
    public static let standard = MergePolicy()

    /// The route that takes merged requests, below the service's base URL. The default is `_batch`.
    public var path: EndpointPath
    /// The most requests that leave as one. The default is 20; at least 1, at most 100.
    public var maximumCount: Int
    /// The most bytes of requests (paths, header fields and bodies as they are) that leave as one. The default is 64 KiB; a request
    /// that is larger flies alone.
    public var maximumByteCount: Int
    /// The most bytes of answers, in sum, that are read of one merged answer, beside each endpoint's own bound. The default is 16 MiB;
    /// at most 32 MiB.
    public var maximumResponseByteCount: Int
    /// The longest that a request waits to leave with others. The default is 50 ms; at most 1 s.
    public var wait: Duration
    /// How long a flight counts as still landing, so that what its callers ask for next can leave with what waits. The default is
    /// 2 ms; `.zero` lets what waits leave at the landing itself.
    ///
    /// It is cut short as soon as so many requests came as the flight had answers, and there is none where one request landed and
    /// nothing waits: calls that follow one another never wait.
    public var settling: Duration
    /// Whether requests are merged over HTTP/2, too. The default is `false`.
    public var mergesOverHTTP2: Bool

    /// Makes a policy; see the properties for the defaults and their bounds.
    public init(
        path: EndpointPath = "_batch", maximumCount: Int = 20, maximumByteCount: Int = 64 << 10,
        maximumResponseByteCount: Int = 16 << 20, wait: Duration = .milliseconds(50),
        settling: Duration = .milliseconds(2), mergesOverHTTP2: Bool = false
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
