public import HTTPTypes

/// The bounds within which a server runs merged requests.
public struct MergingLimits: Sendable {
    /// The default bounds.
    public static let standard = MergingLimits()

    /// The most requests in one envelope; one with more is refused with 413. The default is 20.
    public var maximumItems: Int
    /// The largest envelope, in bytes; a larger one is refused with 413. The default is 1 MiB.
    public var maximumRequestByteCount: Int
    /// The most header fields of one request; one with more is refused with 400. The default is 64.
    public var maximumHeaderFields: Int
    /// The largest response to one request, in bytes of its body; a larger one becomes a 500. The default is 4 MiB.
    public var maximumResponseByteCount: Int
    /// The most bytes of the bodies of all responses; one that no longer fits becomes a 500. The default is 16 MiB.
    public var maximumTotalResponseByteCount: Int
    /// The most requests of one envelope that are worked on at once. The default is 4.
    public var maximumConcurrentItems: Int
    /// The longest that one request may take; then its task is cancelled and its response is 504. The default is 10 s.
    public var timePerItem: Duration
    /// The longest time for all requests together; those without a response by then get 504. The default is 30 s.
    public var totalTime: Duration
    /// Header fields that every request inherits from its envelope, and may not set itself: those that a proxy in front
    /// of the server sets and clients must not. The default is `Forwarded`, `Via`, `X-Real-IP` and the common
    /// `X-Forwarded-…`; add the ones that your proxy sets.
    public var inheritedHeaders: Set<HTTPField.Name>

    /// Bounds what one envelope may contain; see the properties for the defaults. A count below 1 is 1.
    public init(
        maximumItems: Int = 20, maximumRequestByteCount: Int = 1 << 20, maximumHeaderFields: Int = 64,
        maximumResponseByteCount: Int = 4 << 20, maximumTotalResponseByteCount: Int = 16 << 20,
        maximumConcurrentItems: Int = 4, timePerItem: Duration = .seconds(10), totalTime: Duration = .seconds(30),
        inheritedHeaders: Set<HTTPField.Name> = MergingLimits.headersOfProxies
    ) {
        self.maximumItems = maximumItems
        self.maximumRequestByteCount = maximumRequestByteCount
        self.maximumHeaderFields = maximumHeaderFields
        self.maximumResponseByteCount = maximumResponseByteCount
        self.maximumTotalResponseByteCount = maximumTotalResponseByteCount
        self.maximumConcurrentItems = maximumConcurrentItems
        self.timePerItem = timePerItem
        self.totalTime = totalTime
        self.inheritedHeaders = inheritedHeaders
    }

    /// The header fields that proxies commonly set.
    public static let headersOfProxies: Set<HTTPField.Name> = Set(
        [
            "Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
            "X-Forwarded-Proto",
        ].compactMap { HTTPField.Name($0) })
}
