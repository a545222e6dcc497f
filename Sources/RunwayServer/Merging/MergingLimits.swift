public import HTTPTypes

/// The limits for the merged requests of a server.
///
/// The following limits are the same for every server:
///
/// - An envelope has at most 1 MiB; a larger one is refused with 413. Each of its requests has at most 64 header
///   fields; one with more is refused with 400.
/// - The body of a response has at most 4 MiB, and all bodies together at most 16 MiB. A response that exceeds a limit
///   is replaced by a 500.
/// - All requests of an envelope together take at most 30 s. Requests without a response by then get 504.
public struct MergingLimits: Sendable {
    /// The default limits.
    public static let standard = MergingLimits()

    /// The maximum number of header fields of one request.
    static let maximumHeaderFields = 64

    /// The maximum number of requests in one envelope; an envelope with more is refused with 413. The default is 20.
    /// Raise it together with the app's `MergePolicy.maximumCount`.
    public var maximumItems: Int
    /// The maximum number of requests of one envelope that run concurrently. The default is 4. Raise it for handlers
    /// that mostly wait for other services.
    public var maximumConcurrentItems: Int
    /// The maximum time for one request; then its task is cancelled and its response is 504. The default is 10 s. Raise
    /// it for slow handlers, up to the 30 s for all requests of an envelope.
    public var timePerItem: Duration
    /// Header fields that every request inherits from its envelope and must not set itself, since a proxy in front of
    /// the server sets them. The default is `Forwarded`, `Via`, `X-Real-IP` and the common `X-Forwarded-…`. Add the
    /// fields that your proxy sets.
    public var inheritedHeaders: Set<HTTPField.Name>
    /// The maximum size of an envelope in bytes.
    package var maximumRequestByteCount = 1 << 20
    /// The maximum body size of one response in bytes.
    package var maximumResponseByteCount = 4 << 20
    /// The maximum size of all response bodies in bytes.
    package var maximumTotalResponseByteCount = 16 << 20
    /// The maximum time for all requests together.
    package var totalTime = Duration.seconds(30)

    /// Creates limits for one envelope. Each parameter has the default of its property; a count below 1 becomes 1.
    public init(
        maximumItems: Int = 20, maximumConcurrentItems: Int = 4, timePerItem: Duration = .seconds(10),
        inheritedHeaders: Set<HTTPField.Name> = MergingLimits.headersOfProxies
    ) {
        self.maximumItems = maximumItems
        self.maximumConcurrentItems = maximumConcurrentItems
        self.timePerItem = timePerItem
        self.inheritedHeaders = inheritedHeaders
    }

    /// The header fields that proxies commonly set.
    public static let headersOfProxies: Set<HTTPField.Name> = Set(
        [
            "Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
            "X-Forwarded-Proto",
        ].compactMap { HTTPField.Name($0) })
}
